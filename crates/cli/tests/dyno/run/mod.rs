//! Tests of runs, from a plan to the results file: their rounds, what stops them, and how they are resumed.

mod faults;
mod not_started;
pub(crate) mod resume;
mod rounds;
pub(crate) mod servers;
pub(crate) mod sqlite;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        servers::tests(),
        rounds::tests(),
        sqlite::tests(),
        faults::tests(),
        not_started::tests(),
        resume::tests(),
    ];
    tests.into_iter().flatten().collect()
}
