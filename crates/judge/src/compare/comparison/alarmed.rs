//! Tests that left the family.

use std::collections::BTreeSet;

/// Tests that have an alarm and have left the family: the place of their subject, their step and number of
/// clients.
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
