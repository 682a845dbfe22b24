//! What reads bytes of others, as functions that any bytes can be thrown at.
//!
//! A [`Target`] is the one definition that both drivers share: `dyno-bench fuzz`, which mutates a corpus, and the
//! cargo-fuzz targets in `fuzz/`, which need a nightly compiler.

mod corpus;
mod mutate;
mod results;
mod sample_run;
mod text;
mod wire;

pub use corpus::Corpus;
pub use mutate::{Mutator, Random};
pub use results::cells_of;
pub use wire::{Asked, COMMANDS};

/// Something that must not panic, whatever it is given.
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
    /// Results files: opened, checked, judged, reported, exported, merged.
    Results,
    /// The same with extreme values in cells: at first each in every column, then several at a time.
    Cells,
}

impl Target {
    pub const ALL: [Self; 7] =
        [Self::Mysql, Self::MysqlCompressed, Self::Pgsql, Self::Dsn, Self::Plan, Self::Results, Self::Cells];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::MysqlCompressed => "mysql_compressed",
            Self::Pgsql => "pgsql",
            Self::Dsn => "dsn",
            Self::Plan => "plan",
            Self::Results => "results",
            Self::Cells => "cells",
        }
    }

    /// Reads the bytes as the target does.
    ///
    /// # Panics
    /// That is the fault which is looked for.
    pub fn run(self, bytes: &[u8]) {
        match self {
            Self::Mysql => wire::mysql(bytes),
            Self::MysqlCompressed => wire::mysql_compressed(bytes),
            Self::Pgsql => wire::pgsql(bytes),
            Self::Dsn => text::dsn(bytes),
            Self::Plan => text::plan(bytes),
            Self::Results | Self::Cells => results::read(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough to reach every target; `dyno-bench fuzz` has the time for more.
    const CASES: u64 = 40;

    #[test]
    fn every_target_takes_what_is_made_of_its_corpus() {
        for target in Target::ALL {
            let mutator = Mutator::new(Corpus::of(target), 7);
            (0..CASES).for_each(|number| target.run(&mutator.case(number)));
        }
    }

    /// Extreme values of every column that are tried, of some sixty. `dyno-bench fuzz cells` tries all.
    const EXTREMES: u64 = 1;

    #[test]
    fn every_column_takes_extreme_values() {
        let cells = results::Cells::of_sample();
        for column in 0..cells.columns() {
            for at in 0..EXTREMES {
                // Others for each column, so that each value is somewhere.
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
