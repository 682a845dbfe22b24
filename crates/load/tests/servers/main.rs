//! Load on real servers: statements of scripts arrive, are counted, and fail with the server's own message.

mod ask;
mod bench;
mod benchmarks;
mod big;
mod bulk;
mod compression;
mod events;
mod faults;
mod joins;
mod logins;
mod metadata;
mod micro;
mod paused_disk;
mod pgbench;
mod pipelines;
mod reconnects;
mod replay;
mod results;
mod slices;
mod stalls;
mod storm;
mod tls;
mod trust;
mod types;
mod workloads;

use std::process::ExitCode;

const SYSTEMS: [&str; 3] = ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"];

fn main() -> ExitCode {
    // The storm takes longest, and its thousands of threads would starve the timing tests, which come last.
    let mut tests = storm::tests();
    for system in SYSTEMS {
        tests.extend(faults::tests(system));
        tests.extend(workloads::tests(system));
        tests.extend(micro::tests(system));
        tests.extend(bulk::tests(system));
        tests.extend(replay::tests(system));
    }
    tests.extend(benchmarks::tests());
    for system in benchmarks::SERVERS {
        tests.extend(pgbench::tests(system));
        tests.extend(pipelines::tests(system));
    }
    tests.push(micro::sqlite_test());
    tests.push(pgbench::sqlite_test());
    tests.extend(big::tests());
    tests.extend(logins::tests());
    tests.extend(tls::tests());
    tests.extend(trust::tests());
    tests.extend(compression::tests());
    tests.extend(metadata::tests());
    tests.extend(types::tests());
    tests.extend(results::tests());
    tests.extend(paused_disk::tests());
    for system in SYSTEMS {
        tests.extend(stalls::tests(system));
        tests.extend(events::tests(system));
        tests.extend(slices::tests(system));
        tests.extend(joins::tests(system));
        tests.extend(reconnects::tests(system));
    }
    dyno_engine::testing::main(tests)
}
