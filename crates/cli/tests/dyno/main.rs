//! Tests of `dyno` as users see it: commands, their output and exit status, and the results file.

mod bench;
mod cluster;
mod command_line;
mod engine;
mod host;
mod packages;
mod plans;
mod read;
mod run;
mod search;
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The longest tests come first, so that no core waits for them at the end. The tests of engines come last,
    // because they unpack archives and start other programs. In this order they rarely run at the same time as the
    // tests of proofs, which they would disturb.
    dyno_testing::main(&[
        "cluster",
        "packages",
        "search",
        "workloads",
        "run",
        "plans",
        "read",
        "command_line",
        "host",
        "engine",
    ])
}
