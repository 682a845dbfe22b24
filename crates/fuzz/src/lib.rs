//! Functions that pass arbitrary bytes to the code that reads data from outside.
//!
//! A [`Target`] is one reader of such data, for example that of plan files. Two drivers run it: `dyno-bench fuzz`,
//! which mutates a corpus, and the cargo-fuzz targets in `fuzz/`, which need a nightly compiler.

mod corpus;
mod mutate;
mod results;
mod sample_run;
mod text;
mod traffic;
mod wire;

pub use corpus::Corpus;
pub use mutate::{Mutator, Random};
pub use results::cells_of;
pub use wire::{Asked, COMMANDS};

/// A reader that must not panic, whatever its input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A MySQL server's packets.
    Mysql,
    /// A MySQL server's packets in compressed frames.
    MysqlCompressed,
    /// A PostgreSQL server's messages.
    Pgsql,
    /// Addresses of servers.
    Dsn,
    /// Plan files.
    Plan,
    /// Logs of servers, and captures of their traffic.
    Traffic,
    /// Results files, which are opened, checked, judged, reported, exported and merged.
    Results,
    /// A results file with extreme values in cells. The first cases put each value into every column. Later cases
    /// change several cells.
    Cells,
}

impl Target {
    pub const ALL: [Self; 8] = [
        Self::Mysql,
        Self::MysqlCompressed,
        Self::Pgsql,
        Self::Dsn,
        Self::Plan,
        Self::Traffic,
        Self::Results,
        Self::Cells,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::MysqlCompressed => "mysql_compressed",
            Self::Pgsql => "pgsql",
            Self::Dsn => "dsn",
            Self::Plan => "plan",
            Self::Traffic => "traffic",
            Self::Results => "results",
            Self::Cells => "cells",
        }
    }

    /// Feeds the bytes to the reader.
    ///
    /// # Panics
    /// The reader has a fault. Fuzzing looks for such faults.
    pub fn run(self, bytes: &[u8]) {
        match self {
            Self::Mysql => wire::mysql(bytes),
            Self::MysqlCompressed => wire::mysql_compressed(bytes),
            Self::Pgsql => wire::pgsql(bytes),
            Self::Dsn => text::dsn(bytes),
            Self::Plan => text::plan(bytes),
            Self::Traffic => traffic::log(bytes),
            Self::Results | Self::Cells => results::read(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of cases for each target in this test. `dyno-bench fuzz` runs more.
    const CASES: u64 = 40;

    #[test]
    fn every_target_takes_what_is_made_of_its_corpus() {
        for target in Target::ALL {
            let mutator = Mutator::new(Corpus::of(target), 7);
            (0..CASES).for_each(|number| target.run(&mutator.case(number)));
        }
    }

    /// Number of extreme values that this test tries in every column. `dyno-bench fuzz cells` tries all of them, about
    /// sixty.
    const EXTREMES: u64 = 1;

    #[test]
    fn every_column_takes_extreme_values() {
        let cells = results::Cells::of_sample();
        for column in 0..cells.columns() {
            for at in 0..EXTREMES {
                // The columns get different values, so that every value is tried in some column.
                let change = cells.one(column, 7 * column + 23 * at, (column + at) % 2 == 0);
                Target::Cells.run(&[&[results::CELLS][..], &change[..]].concat());
            }
        }
    }

    #[test]
    fn a_case_is_made_again() {
        for target in Target::ALL {
            let made = || Mutator::new(Corpus::of(target), 7).case(3);
            assert_eq!(made(), made(), "{}", target.name());
        }
    }
}
