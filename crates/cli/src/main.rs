//! The binary `dyno`: parses the arguments and calls one command.

mod arguments;
mod commands;
mod failure;
mod findings;
mod interrupt;
mod options;
mod output;
mod page;
mod progress;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Inner};

fn main() -> ExitCode {
    let mut words = env::args_os();
    let name = words.next();
    let words: Vec<OsString> = words.collect();
    if name.is_some_and(|name| dyno_sysbench::is_called(&name)) {
        return dyno_sysbench::main(&words);
    }
    execute(&words).unwrap_or_else(|error| failure::report(&error))
}

fn execute(words: &[OsString]) -> anyhow::Result<ExitCode> {
    // Parsing would define all commands, which takes time and memory. The load process avoids this.
    if words == ["drive"] {
        return commands::drive();
    }
    if Inner::is_called(words.first()) {
        return Inner::parse().execute();
    }
    let Arguments { manner, command } = Arguments::parse();
    output::set_manner(manner);
    command.execute()
}
