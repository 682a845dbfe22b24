//! The binary `dyno`: arguments in, one call out.

mod arguments;
mod commands;
mod failure;
mod findings;
mod interrupt;
mod output;
mod page;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    let mut called = std::env::args_os();
    if called.next().is_some_and(|name| dyno_sysbench::is_called(&name)) {
        return dyno_sysbench::main(&called.collect::<Vec<_>>());
    }
    // The load process has no use for the definitions of every other command, which take time and memory.
    if called.eq(["drive"]) {
        return commands::drive().unwrap_or_else(|error| failure::report(&error));
    }
    Arguments::parse().command.execute().unwrap_or_else(|error| failure::report(&error))
}
