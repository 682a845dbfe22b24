//! The sources of load on a server: built-in workloads, workloads of other benchmarks, scripts of pgbench, logged
//! traffic.

mod benchmarks;
mod builtin;
mod bulk;
mod micro;
mod pgbench;
mod pipelines;
mod replay;
mod sent;

use dyno_engine::testing::Trial;

use crate::SYSTEMS;

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for system in SYSTEMS {
        tests.extend(builtin::tests(system));
        tests.extend(micro::tests(system));
        tests.extend(bulk::tests(system));
        tests.extend(sent::tests(system));
        tests.extend(replay::tests(system));
    }
    tests.extend(benchmarks::tests());
    for system in benchmarks::SERVERS {
        tests.extend(pgbench::tests(system));
        tests.extend(pipelines::tests(system));
    }
    tests.push(micro::sqlite_test());
    tests.push(pgbench::sqlite_test());
    tests
}
