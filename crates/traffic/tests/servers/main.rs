//! Compares logs that real servers write, and captures of their traffic, with the statements that were sent to the
//! servers.

mod capture;
mod client;
mod imported;
mod mysql;
mod postgres;

use std::process::ExitCode;

/// A password that no traffic file may contain.
const SECRET: &str = "hunter2";

fn main() -> ExitCode {
    dyno_testing::main(&[])
}
