//! The files of an upgrade in a folder: the data, the log, and the traffic that `dyno traffic import` makes from
//! the log.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::planted::Product;
use super::traffic::{Traffic, Values};
use crate::support::program::Program;

/// Number of sessions in the traffic.
const SESSIONS: u64 = 4;
/// Time between two statements, in µs.
const STEP_US: u64 = 1000;

pub(super) const DATA: &str = "data.sql";
pub(super) const AFTER: &str = "after.sql";
pub(super) const LOG: &str = "server.log";
pub(super) const TRAFFIC: &str = "mine.traffic";

/// A folder with the files of an upgrade.
pub(super) struct Bed {
    pub(super) folder: PathBuf,
}

impl Bed {
    /// Writes the files. Returns `None` if the user stopped the import.
    pub(super) fn make(
        folder: &Path,
        product: Product,
        traffic: &Traffic,
        program: &Program,
    ) -> anyhow::Result<Option<Self>> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        put(&folder.join(DATA), &product.data()?)?;
        put(&folder.join(AFTER), product.after()?)?;
        put(&folder.join(LOG), &log(product, traffic)?)?;
        let import = ["traffic", "import", LOG, "--out", TRAFFIC, "--force"];
        let status = program.run_as_it_is(folder, &import, "import.txt")?;
        if program.is_stopped() {
            return Ok(None);
        }
        anyhow::ensure!(status.success(), "the import failed; see {}", folder.join("dyno.log").display());
        Ok(Some(Self { folder: folder.to_owned() }))
    }
}

/// Writes a file, unless it has this text already. Dyno regards a file as new data if its modification time has
/// changed.
fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the log of a server that executed the traffic. In each pass, the units of statements are executed once each,
/// one after the other. A unit takes part in as many passes as its `times` says.
fn log(product: Product, traffic: &Traffic) -> anyhow::Result<String> {
    let mut values = Values::default();
    let mut text = String::new();
    let (mut number, mut session) = (0, 0);
    let passes = traffic.units.iter().map(|unit| unit.times).max().unwrap_or(0);
    for pass in 0..passes {
        for unit in traffic.units.iter().filter(|unit| pass < unit.times) {
            session = (session + 1) % SESSIONS;
            for statement in &unit.statements {
                entry(product, number, session, &values.fill(statement)?, &mut text);
                number += 1;
            }
        }
    }
    Ok(text)
}

/// Appends an entry to the log. The log is a slow log of MySQL 8, or PostgreSQL's log with the prefix `%m %p %c`.
fn entry(product: Product, number: u64, session: u64, statement: &str, text: &mut String) {
    let us = number * STEP_US;
    let (minute, second, fraction) = (us / 60_000_000 % 60, us / 1_000_000 % 60, us % 1_000_000);
    // Writing to a string does not fail.
    let _ = match product {
        Product::Mariadb | Product::Mysql => write!(
            text,
            "# Time: 2026-11-01T10:{minute:02}:{second:02}.{fraction:06}Z\n\
             # User@Host: app[app] @ localhost []  Id: {:5}\n\
             # Query_time: 0.000500  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1\n\
             SET timestamp={};\n{statement};\n",
            session + 10,
            1_793_527_200 + us / 1_000_000,
        ),
        Product::Postgres => writeln!(
            text,
            "2026-11-01 10:{minute:02}:{second:02}.{:03} UTC {} 6747.{:x} LOG:  statement: {statement}",
            fraction / 1000,
            session + 10,
            session + 10,
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Unit;
    use super::*;

    #[test]
    fn units_take_turns_and_their_statements_stay_together() {
        let unit = |times, statements: &[&str]| Unit {
            times,
            statements: statements.iter().map(|it| (*it).to_owned()).collect(),
        };
        let units = vec![unit(2, &["BEGIN", "COMMIT"]), unit(1, &["SELECT 1"])];
        let traffic = Traffic { units, planted: Vec::new() };
        let of_postgres = log(Product::Postgres, &traffic).unwrap();
        let statements: Vec<&str> =
            of_postgres.lines().filter_map(|line| line.split_once("statement: ")).map(|it| it.1).collect();
        assert_eq!(statements, ["BEGIN", "COMMIT", "SELECT 1", "BEGIN", "COMMIT"]);
        let sessions: Vec<&str> =
            of_postgres.lines().filter_map(|line| line.split_whitespace().nth(4)).collect();
        assert_eq!(sessions, ["6747.b", "6747.b", "6747.c", "6747.d", "6747.d"]);
        let of_mysql = log(Product::Mysql, &traffic).unwrap();
        assert_eq!(of_mysql.matches("# Query_time: ").count(), 5);
        assert!(of_mysql.contains("10:00:00.004000Z") && of_mysql.ends_with("\nCOMMIT;\n"), "{of_mysql}");
    }

    #[test]
    fn a_file_that_is_there_already_keeps_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.sql");
        put(&path, "one").unwrap();
        let long_ago = std::time::UNIX_EPOCH;
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        put(&path, "one").unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), long_ago);
        put(&path, "other").unwrap();
        assert_ne!(path.metadata().unwrap().modified().unwrap(), long_ago);
    }
}
