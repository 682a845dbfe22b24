//! What an import records besides the statements: counts for each second, counts of commands, and problems with the
//! logs.

use std::collections::BTreeMap;

use crate::file::{DigestCounts, SecondCounts, Writer};
use crate::log::{Statement, Trouble};
use crate::sql::Kind;

/// Largest number of seconds whose counts are kept in memory.
const SECONDS_MAX: usize = 100_000;
/// Number of lines that are kept for each kind of problem.
const LINES_MAX: usize = 10;

/// Counts for each second.
#[derive(Debug, Default)]
pub(super) struct Seconds(BTreeMap<i64, SecondCounts>);

impl Seconds {
    /// The counts for the second of a moment in µs.
    pub(super) fn at(&mut self, at_us: i64) -> &mut SecondCounts {
        self.0.entry(at_us.div_euclid(1_000_000)).or_default()
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() > SECONDS_MAX
    }

    pub(super) fn flush(&mut self, writer: &Writer<'_>) -> rusqlite::Result<()> {
        let seconds = std::mem::take(&mut self.0);
        seconds.iter().try_for_each(|(second, counts)| writer.count_second(*second, counts))
    }
}

impl SecondCounts {
    pub(super) fn add(&mut self, kind: Kind, statement: &Statement<'_>) {
        self.statements += 1;
        self.reads += u64::from(kind == Kind::Read);
        self.writes += u64::from(kind == Kind::Write);
        self.errors += u64::from(statement.error.is_some());
        self.latency_us = self.latency_us.saturating_add(statement.latency_us.unwrap_or(0));
    }
}

impl DigestCounts {
    pub(super) fn add(&mut self, statement: &Statement<'_>) {
        self.statements += 1;
        self.errors += u64::from(statement.error.is_some());
        if let Some(latency_us) = statement.latency_us {
            self.add_latency(latency_us);
        }
        let rows = |sum: &mut u64, rows: Option<u64>| *sum = sum.saturating_add(rows.unwrap_or(0));
        rows(&mut self.rows_sent, statement.rows_sent);
        rows(&mut self.rows_examined, statement.rows_examined);
        rows(&mut self.rows_affected, statement.rows_affected);
    }

    pub(super) fn add_latency(&mut self, latency_us: u64) {
        self.timed += 1;
        self.latency_us = self.latency_us.saturating_add(latency_us);
        self.latency_us_max = self.latency_us_max.max(latency_us);
    }
}

/// What a log contains besides statements.
#[derive(Debug, Default)]
pub(super) struct Beside {
    skipped: BTreeMap<String, u64>,
    troubles: BTreeMap<Trouble, (u64, Vec<u64>)>,
}

impl Beside {
    pub(super) fn skip(&mut self, command: &str) {
        match self.skipped.get_mut(command) {
            Some(entries) => *entries += 1,
            None => drop(self.skipped.insert(command.to_owned(), 1)),
        }
    }

    pub(super) fn trouble(&mut self, trouble: Trouble, line: u64) {
        let (entries, lines) = self.troubles.entry(trouble).or_default();
        *entries += 1;
        if lines.len() < LINES_MAX {
            lines.push(line);
        }
    }

    /// Number of entries that could not be read.
    pub(super) fn lost(&self) -> u64 {
        self.troubles.iter().filter(|(trouble, _)| trouble.loses()).map(|(_, (entries, _))| entries).sum()
    }

    /// The first line that could not be read.
    pub(super) fn first_lost(&self) -> Option<u64> {
        let lost = self.troubles.iter().filter(|(trouble, _)| trouble.loses());
        lost.filter_map(|(_, (_, lines))| lines.first().copied()).min()
    }

    pub(super) fn write(&self, source_id: i64, writer: &Writer<'_>) -> rusqlite::Result<()> {
        for (command, entries) in &self.skipped {
            writer.add_skipped(source_id, command, *entries)?;
        }
        for (trouble, (entries, lines)) in &self.troubles {
            let lines = serde_json::to_string(lines).unwrap_or_default();
            writer.add_trouble(source_id, trouble.name(), *entries, &lines)?;
        }
        Ok(())
    }
}
