//! Load on real servers. Statements of scripts arrive and are counted, and a failure shows the server's own
//! message.

mod ask;
mod bench;
mod faults;
mod protocol;
mod storm;
mod timing;
mod workloads;

use std::process::ExitCode;

const SYSTEMS: [&str; 3] = ["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"];

fn main() -> ExitCode {
    // The storm test takes longest, so it comes first. Its thousands of threads would starve the timing tests, so these
    // come last.
    let mut tests = storm::tests();
    tests.extend(SYSTEMS.into_iter().flat_map(faults::tests));
    tests.extend(workloads::tests());
    tests.extend(protocol::tests());
    tests.extend(timing::tests());
    dyno_engine::testing::main(tests)
}
