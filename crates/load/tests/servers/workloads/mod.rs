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

use std::process::Command;

use dyno_engine::Server;
use dyno_engine::testing::server_test;
use dyno_testing::{Completion, Trial};

/// The first version of pgbench that draws random numbers in the same way as pgbench of PostgreSQL 18.
const PGBENCH_VERSION_MIN: u32 = 15;

/// Makes a test on PostgreSQL that also runs pgbench. The test is ignored if no suitable pgbench is installed.
fn beside_pgbench(name: &str, test: fn(&mut Server)) -> Vec<Trial> {
    let system = "postgres@18.4";
    let trial = match pgbench_version() {
        Some(PGBENCH_VERSION_MIN..) => server_test(name, system, test),
        _ => Trial::ignorable_test(format!("{name} {system}"), || {
            Ok(Completion::ignored_with("there is no pgbench 15 or later (postgresql-15)"))
        }),
    };
    vec![trial]
}

/// The major version of the installed `pgbench`.
fn pgbench_version() -> Option<u32> {
    let output = Command::new("pgbench").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().nth(2)?.split('.').next()?.parse().ok()
}
