//! Profiles, origins and drift on real servers.

mod drift;
mod profiles;

use std::process::ExitCode;

fn main() -> ExitCode {
    dyno_engine::testing::main(profiles::tests().into_iter().chain(drift::tests()).collect())
}
