//! What loads the servers: the load process, suites, benchmarks, and logged traffic.

mod drive;
mod load;
mod queries;
mod rates;
mod replays;
mod suites;
mod tpcc;
mod tpch;
mod traffic;

use libtest_mimic::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        rates::tests(),
        replays::tests(),
        tpch::tests(),
        tpcc::tests(),
        suites::tests(),
        load::tests(),
        drive::tests(),
        traffic::tests(),
        queries::tests(),
    ];
    tests.into_iter().flatten().collect()
}
