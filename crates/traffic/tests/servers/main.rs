//! Logs that real servers write, compared with what was sent to them.

mod client;
mod imported;
mod mysql;
mod postgres;

use std::process::ExitCode;

/// A password, which must be in no traffic file.
const SECRET: &str = "hunter2";

fn main() -> ExitCode {
    dyno_engine::testing::main(mysql::tests().into_iter().chain(postgres::tests()).collect())
}
