//! When events happen: their times and their order, and how stalls and lost connections affect them.

mod events;
mod joins;
mod paused_disk;
mod reconnects;
mod slices;
mod stalls;

use dyno_engine::testing::Trial;

use crate::SYSTEMS;

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = paused_disk::tests();
    for system in SYSTEMS {
        tests.extend(stalls::tests(system));
        tests.extend(events::tests(system));
        tests.extend(slices::tests(system));
        tests.extend(joins::tests(system));
        tests.extend(reconnects::tests(system));
    }
    tests
}
