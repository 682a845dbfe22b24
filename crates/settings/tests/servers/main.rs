//! Profiles, origins and drift on real servers.

mod drift;
mod in_force;
mod profiles;

use std::process::ExitCode;

fn main() -> ExitCode {
    dyno_engine::testing::main(
        profiles::tests().into_iter().chain(drift::tests()).chain(in_force::tests()).collect(),
    )
}
