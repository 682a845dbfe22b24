//! A client's record of its transactions, and the comparison of the record with the rows that are present after a
//! crash.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::clients::contents::PARTS;

/// How a transaction ended, as far as its client can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The transaction was rolled back, or its commit was never sent, so it must not be present.
    Undone,
    /// The commit was sent but not answered, so the transaction may be present or not.
    InDoubt,
    /// The commit was acknowledged at this time, so the transaction must be present.
    Acknowledged(Duration),
    /// Only a part of the transaction is present. An earlier check has already counted this as a finding, so later
    /// checks ignore the transaction.
    Torn,
}

/// The fates of a client's transactions. A transaction's number is its index.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) client: u32,
    fates: Vec<Fate>,
}

/// The rows of a client that a check has found in the tables.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    /// For each transaction, a bit set. Bit `n` is set if part `n` is present.
    parts: Vec<u8>,
    /// Transactions with a row whose content differs from what was written.
    pub(crate) damaged: BTreeSet<usize>,
    /// The value of the client's counter. `None` if the counter's row is missing.
    pub(crate) counter: Option<i64>,
}

/// A difference between the client's record of a transaction and the rows that are present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The transaction was acknowledged at this time, but is gone.
    Lost(Duration),
    /// Only a part of the transaction is present, or one of its rows is damaged.
    Torn,
    /// The transaction is present, although it was undone, or although an earlier check found that it was gone.
    Resurrected,
    InDoubtKept,
    InDoubtGone,
}

const ALL_PARTS: u8 = (1 << PARTS) - 1;

impl Sightings {
    /// Records that a part of a transaction is present.
    pub(crate) fn see(&mut self, seq: usize, part: u32) {
        if self.parts.len() <= seq {
            self.parts.resize(seq + 1, 0);
        }
        self.parts[seq] |= 1 << part;
    }

    fn parts(&self, seq: usize) -> u8 {
        self.parts.get(seq).copied().unwrap_or_default()
    }

    /// The last transaction that is completely present, if there is one.
    pub(crate) fn last(&self) -> Option<usize> {
        self.parts.iter().rposition(|parts| *parts == ALL_PARTS)
    }
}

impl Ledger {
    pub(crate) fn new(client: u32) -> Self {
        Self { client, fates: Vec::new() }
    }

    /// Begins a transaction, which counts as undone until something else is recorded. Returns its number.
    pub(crate) fn begin(&mut self) -> usize {
        self.fates.push(Fate::Undone);
        self.fates.len() - 1
    }

    pub(crate) fn note(&mut self, seq: usize, fate: Fate) {
        self.fates[seq] = fate;
    }

    /// Number of transactions that were begun.
    pub(crate) fn len(&self) -> usize {
        self.fates.len()
    }

    /// Compares the client's record with the rows that are present. Returns each difference with the number of its
    /// transaction. Then changes the record to agree with the rows, so that the next call does not return the same
    /// difference again.
    pub(crate) fn settle(&mut self, seen: &Sightings, now: Duration) -> Vec<(usize, Finding)> {
        let mut findings = Vec::new();
        for (seq, fate) in self.fates.iter_mut().enumerate() {
            let parts = seen.parts(seq);
            let is_there = parts == ALL_PARTS;
            let is_torn = !is_there && parts != 0 || seen.damaged.contains(&seq);
            let (finding, settled) = match *fate {
                Fate::Torn => continue,
                _ if is_torn => (Finding::Torn, Fate::Torn),
                Fate::Acknowledged(_) if is_there => continue,
                Fate::Acknowledged(at) => (Finding::Lost(at), Fate::Undone),
                Fate::Undone if !is_there => continue,
                Fate::Undone => (Finding::Resurrected, Fate::Acknowledged(now)),
                Fate::InDoubt if is_there => (Finding::InDoubtKept, Fate::Acknowledged(now)),
                Fate::InDoubt => (Finding::InDoubtGone, Fate::Undone),
            };
            *fate = settled;
            findings.push((seq, finding));
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Duration = Duration::from_secs(5);
    const NOW: Duration = Duration::from_secs(6);

    fn ledger(fates: &[Fate]) -> Ledger {
        let mut ledger = Ledger::new(0);
        for fate in fates {
            let seq = ledger.begin();
            ledger.note(seq, *fate);
        }
        ledger
    }

    fn seen(transactions: &[(usize, &[u32])]) -> Sightings {
        let mut seen = Sightings::default();
        for (seq, parts) in transactions {
            parts.iter().for_each(|part| seen.see(*seq, *part));
        }
        seen
    }

    #[test]
    fn what_is_as_it_was_said_to_be_is_no_finding() {
        let mut ledger = ledger(&[Fate::Acknowledged(AT), Fate::Undone]);
        assert_eq!(ledger.settle(&seen(&[(0, &[0, 1, 2])]), NOW), []);
    }

    #[test]
    fn what_is_missing_or_too_much_is_found_once() {
        let mut ledger = ledger(&[Fate::Acknowledged(AT), Fate::Undone, Fate::InDoubt, Fate::InDoubt]);
        let there = seen(&[(1, &[0, 1, 2]), (2, &[0, 1, 2])]);
        assert_eq!(
            ledger.settle(&there, NOW),
            [
                (0, Finding::Lost(AT)),
                (1, Finding::Resurrected),
                (2, Finding::InDoubtKept),
                (3, Finding::InDoubtGone)
            ]
        );
        assert_eq!(ledger.settle(&there, NOW), []);
    }

    #[test]
    fn what_a_crash_decided_holds_for_the_next() {
        let mut ledger = ledger(&[Fate::InDoubt, Fate::InDoubt]);
        ledger.settle(&seen(&[(0, &[0, 1, 2])]), AT);
        let swapped = seen(&[(1, &[0, 1, 2])]);
        assert_eq!(ledger.settle(&swapped, NOW), [(0, Finding::Lost(AT)), (1, Finding::Resurrected)]);
    }

    #[test]
    fn a_part_of_a_transaction_or_a_damaged_row_is_torn_whatever_its_fate() {
        let mut ledger = ledger(&[Fate::Acknowledged(AT), Fate::Undone, Fate::InDoubt]);
        let mut there = seen(&[(0, &[0, 2]), (1, &[1]), (2, &[0, 1, 2])]);
        there.damaged.insert(2);
        let torn = [(0, Finding::Torn), (1, Finding::Torn), (2, Finding::Torn)];
        assert_eq!(ledger.settle(&there, NOW), torn);
        assert_eq!(ledger.settle(&there, NOW), []);
        assert_eq!(there.last(), Some(2));
    }
}
