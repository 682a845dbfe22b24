//! Load on real servers: what the scripts do arrives, is counted, and fails with the server's own words.

mod ask;
mod bench;
mod big;
mod bulk;
mod compression;
mod events;
mod faults;
mod joins;
mod logins;
mod micro;
mod paused_disk;
mod results;
mod slices;
mod stalls;
mod storm;
mod tls;
mod types;
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Those that take longest come first, so that no core waits for the last of them.
    let mut tests = storm::tests();
    tests.extend(paused_disk::tests());
    tests.extend(big::tests());
    for system in ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"] {
        tests.extend(faults::tests(system));
        tests.extend(workloads::tests(system));
        tests.extend(micro::tests(system));
        tests.extend(bulk::tests(system));
        tests.extend(events::tests(system));
        tests.extend(slices::tests(system));
        tests.extend(joins::tests(system));
        tests.extend(stalls::tests(system));
    }
    tests.push(micro::sqlite_test());
    for more in [logins::tests(), tls::tests(), compression::tests(), types::tests(), results::tests()] {
        tests.extend(more);
    }
    dyno_engine::testing::main(tests)
}
