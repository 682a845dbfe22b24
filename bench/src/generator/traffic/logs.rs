//! Makes logs of any size by repeating statements with different values.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// A kind of log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Slow,
    Csvlog,
    /// A slow log of statements in many shapes.
    Varied,
}

/// The statements of a session in order, and how long each takes in seconds. `{}` stands for a value.
const STATEMENTS: [(&str, f64); 6] = [
    ("BEGIN", 0.000_02),
    ("SELECT c FROM sbtest1 WHERE id = {}", 0.000_15),
    ("SELECT DISTINCT c FROM sbtest2 WHERE id BETWEEN {} AND {} ORDER BY c", 0.000_9),
    ("UPDATE sbtest1 SET k = k + 1 WHERE id = {}", 0.000_3),
    (
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES ({}, {}, '08566691963-88624912351-16662227201-46648573979-64646226163', '63188288836')",
        0.000_25,
    ),
    ("COMMIT", 0.002),
];
/// Number of different shapes of statements in a varied log.
const SHAPES: u64 = 2000;
const COLUMNS: [&str; 8] =
    ["name", "email", "status", "created_at", "amount", "customer_id", "quantity", "notes"];
const SESSIONS: u64 = 64;
const STEP_US: u64 = 130;

impl Kind {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Slow => "slow log of MySQL 8",
            Self::Csvlog => "csvlog of PostgreSQL",
            Self::Varied => "slow log, 2000 shapes",
        }
    }

    /// Writes a log of at least `bytes_min` bytes. Returns the number of its statements.
    pub(super) fn write(self, path: &Path, bytes_min: u64) -> anyhow::Result<u64> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let (mut written, mut number) = (0, 0);
        while written < bytes_min {
            let entry = self.entry(number);
            out.write_all(entry.as_bytes())?;
            written += entry.len() as u64;
            number += 1;
        }
        out.flush()?;
        Ok(number)
    }

    fn entry(self, number: u64) -> String {
        // The sessions take turns, and each sends its next statement.
        let (session, step) = (number % SESSIONS, number / SESSIONS);
        let (statement, seconds) = STATEMENTS[(step % STATEMENTS.len() as u64) as usize];
        let value = number.wrapping_mul(2_654_435_761) % 1_000_000;
        let text = if matches!(self, Self::Varied) { varied(value) } else { filled(statement, value) };
        let us = number * STEP_US;
        let (hours, minutes) = (us / 3_600_000_000 % 24, us / 60_000_000 % 60);
        let (second, fraction, day) = (us / 1_000_000 % 60, us % 1_000_000, 1 + us / 86_400_000_000);
        match self {
            Self::Slow | Self::Varied => format!(
                "# Time: 2026-11-{day:02}T{hours:02}:{minutes:02}:{second:02}.{fraction:06}Z\n\
                 # User@Host: app[app] @ localhost []  Id: {:5}\n\
                 # Query_time: {seconds:.6}  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1\n\
                 SET timestamp={};\n{text};\n",
                session + 10,
                1_793_491_200 + us / 1_000_000,
            ),
            Self::Csvlog => format!(
                "2026-11-{day:02} {hours:02}:{minutes:02}:{second:02}.{:03} UTC,\"app\",\"shop\",{},\"[local]\",{:x}.{:x},{step},\"SELECT\",2026-11-01 00:00:00 UTC,{}/{step},0,LOG,00000,\"duration: {:.3} ms  statement: {text}\",,,,,,,,,\"\",\"client backend\",,0\n",
                fraction / 1000,
                session + 1000,
                0x6540_0000_u64,
                session + 1000,
                session + 3,
                seconds * 1e3,
            ),
        }
    }
}

/// Returns a statement with a value in place of each `{}`.
fn filled(statement: &str, mut value: u64) -> String {
    let mut text = String::with_capacity(statement.len() + 16);
    for (at, part) in statement.split("{}").enumerate() {
        if at > 0 {
            text += &value.to_string();
            value += 99;
        }
        text += part;
    }
    text
}

/// Makes a statement like those of object-relational mappers. `value` selects its shape.
fn varied(value: u64) -> String {
    let shape = value % SHAPES;
    let column = |place: u64| COLUMNS[((shape + place * (1 + shape / 8)) % 8) as usize];
    let table = shape / 8;
    match shape % 4 {
        0 => format!(
            "INSERT INTO `app_{table}` (`{}`, `{}`) VALUES ('it''s {value}', {value})",
            column(0),
            column(1)
        ),
        1 => format!(
            "UPDATE `app_{table}` SET `{}` = 'user{value}@example.com' WHERE `id` = {value}",
            column(0)
        ),
        _ => format!(
            "SELECT `app_{table}`.`id`, `app_{table}`.`{}`, `app_{table}`.`{}` FROM `app_{table}` WHERE `app_{table}`.`{}` = {value} LIMIT 1",
            column(0),
            column(1),
            column(2)
        ),
    }
}
