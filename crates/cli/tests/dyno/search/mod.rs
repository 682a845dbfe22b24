//! Commands that measure until they have an answer: which version, setting or query makes the difference.

mod bisect;
mod explain;
mod explain_plans;
mod tune;
mod upgrades;
mod versus;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        bisect::tests(),
        explain::tests(),
        explain_plans::tests(),
        upgrades::tests(),
        tune::tests(),
        versus::tests(),
    ];
    tests.into_iter().flatten().collect()
}
