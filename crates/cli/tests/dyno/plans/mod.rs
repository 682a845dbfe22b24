//! What plans can ask for: keys, events, ladders, sweeps, and searches for a capacity.

mod capacity;
mod keys;
mod ladders;
mod step_events;
mod steps;
mod sweeps;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [step_events::tests(), capacity::tests(), sweeps::tests(), ladders::tests(), keys::tests()];
    tests.into_iter().flatten().collect()
}
