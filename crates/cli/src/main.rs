//! The binary `dyno`: arguments in, one call out.

mod arguments;
mod commands;
mod failure;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    Arguments::parse().command.execute().unwrap_or_else(|error| failure::report(&error))
}
