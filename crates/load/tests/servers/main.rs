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

const SYSTEMS: &[&str] = &["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"];

fn main() -> ExitCode {
    // The storm test takes longest, so it begins first. Its thousands of threads would starve the timing tests, so
    // these begin last.
    dyno_testing::main(&["storm", "faults", "workloads", "protocol"])
}
