//! Counts injected faults and what they caused.

use std::collections::{BTreeMap, BTreeSet};

use super::kind::Kind;
use crate::support::pair;

/// The kinds of damage that are counted. The goal for each is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// A committed trial that is gone or changed.
    Lost,
    /// A file, mount or other resource that still exists although no run is in progress.
    LeftBehind,
    /// A trial that counts as good although the fault must have affected it.
    WrongAsGood,
    /// A run that cannot be resumed.
    NotResumed,
}

impl Count {
    const ALL: [Self; 4] = [Self::Lost, Self::LeftBehind, Self::WrongAsGood, Self::NotResumed];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Lost => "committed trials lost",
            Self::LeftBehind => "left behind",
            Self::WrongAsGood => "wrong kept as good",
            Self::NotResumed => "not resumed",
        }
    }
}

/// How many faults were injected and how much damage was found, for each kind of fault.
#[derive(Default)]
pub(super) struct Tally {
    rows: BTreeMap<Kind, Row>,
    /// Damage that was found before the first fault.
    before: Row,
    pub(super) runs: u32,
    pub(super) trials: usize,
    /// The ids of the runs that were completed.
    pub(super) known_runs: BTreeSet<i64>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    injected: u32,
    found: [u32; Count::ALL.len()],
}

impl Tally {
    pub(super) fn inject(&mut self, kind: Kind) {
        self.rows.entry(kind).or_default().injected += 1;
    }

    pub(super) fn injected(&self) -> u32 {
        self.rows.values().map(|row| row.injected).sum()
    }

    pub(super) fn is_known(&self, run: i64) -> bool {
        self.known_runs.contains(&run)
    }

    pub(super) fn find(&mut self, after: Option<Kind>, count: Count) {
        let row = match after {
            Some(kind) => self.rows.entry(kind).or_default(),
            None => &mut self.before,
        };
        row.found[count as usize] += 1;
    }

    /// Makes a table with a row for each kind of fault, then the totals, then the goals.
    pub(super) fn table(&self) -> comfy_table::Table {
        let [lost, left, wrong, stuck] = Count::ALL.map(Count::words);
        let mut table = pair::table(&["fault", "injected", lost, left, wrong, stuck]);
        let mut all = self.before;
        for (kind, row) in &self.rows {
            table.add_row(cells(
                kind.words(),
                &row.injected.to_string(),
                row.found.map(|found| found.to_string()),
            ));
            all.injected += row.injected;
            for (sum, found) in all.found.iter_mut().zip(row.found) {
                *sum += found;
            }
        }
        table.add_row(cells("all", &all.injected.to_string(), all.found.map(|found| found.to_string())));
        table.add_row(cells("goal", "", all.found.map(|_| "0".to_owned())));
        table
    }
}

fn cells<const N: usize>(what: &str, injected: &str, found: [String; N]) -> Vec<String> {
    [what.to_owned(), injected.to_owned()].into_iter().chain(found).collect()
}
