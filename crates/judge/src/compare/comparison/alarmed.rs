//! Tests that have had an alarm, so that they no longer count in the correction for the number of tests.

use std::collections::BTreeSet;

/// Tests that had an alarm at an earlier look. They no longer belong to the family whose p-values are adjusted
/// together. A test is identified by the index of its subject, its step and its number of clients.
#[derive(Debug, Default)]
pub(super) struct Alarmed(BTreeSet<(usize, String, u32)>);

impl Alarmed {
    pub(super) fn has(&self, subject: usize, step: &str, clients: u32) -> bool {
        self.0.iter().any(|(at, of, number)| (*at, of.as_str(), *number) == (subject, step, clients))
    }

    pub(super) fn add(&mut self, subject: usize, step: &str, clients: u32) {
        self.0.insert((subject, step.to_owned(), clients));
    }
}
