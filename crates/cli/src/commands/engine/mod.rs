//! `dyno engine`: uses database engines outside of runs.

mod add;
mod cache;
mod fetch;
mod list;
mod settings;
mod shell;
mod start;
mod stop;
pub(super) mod system;
mod upstream;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// List, fetch, start, query and stop database engines
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine start mariadb@10.11/rocksdb
  dyno engine shell mariadb -e 'SELECT version()'
  dyno engine stop mariadb
  dyno engine start oci:docker.io/library/mysql:8.4
  dyno engine settings ./build-main ./build-pr

An engine is an entry of the catalogue, the folder of a build, or an image of a container; see docs/do/engines.md and \
docs/do/containers.md.")]
pub(crate) struct Engine {
    #[command(subcommand)]
    command: EngineCommand,
}

#[derive(Debug, Subcommand)]
enum EngineCommand {
    List(list::List),
    Fetch(fetch::Fetch),
    Add(add::Add),
    Start(start::Start),
    Stop(stop::Stop),
    Shell(shell::Shell),
    Cache(cache::CacheCommand),
    Settings(settings::Settings),
}

impl Engine {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.command {
            EngineCommand::List(list) => list.execute()?,
            EngineCommand::Fetch(fetch) => fetch.execute()?,
            EngineCommand::Add(add) => add.execute()?,
            EngineCommand::Start(start) => start.execute()?,
            EngineCommand::Cache(cache) => cache.execute()?,
            EngineCommand::Stop(stop) => stop.execute()?,
            EngineCommand::Settings(settings) => settings.execute()?,
            EngineCommand::Shell(shell) => return shell.execute(),
        }
        Ok(ExitCode::SUCCESS)
    }
}
