//! The host of a run: limits, other processes, and servers that are frozen between their slices.

mod confined;
mod disturbed;
mod doctor;
mod freeze;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [freeze::tests(), disturbed::tests(), doctor::tests(), confined::tests()];
    tests.into_iter().flatten().collect()
}
