//! Profiles, origins and drift on real servers.

mod drift;
mod in_force;
mod profiles;

use std::process::ExitCode;

fn main() -> ExitCode {
    dyno_testing::main(&[])
}
