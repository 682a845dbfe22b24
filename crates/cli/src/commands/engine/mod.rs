//! `dyno engine`: database engines, apart from runs.

mod add;
mod cache;
mod fetch;
mod list;
mod settings;
mod shell;
mod start;
mod stop;
mod upstream;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use dyno_engine::{Cache, Catalogue, Installation, SystemName};

use crate::progress::Fetching;

/// List, fetch, start, query and stop database engines
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine start mariadb@10.11/rocksdb
  dyno engine shell mariadb -e 'SELECT version()'
  dyno engine stop mariadb

Plans may also name images of containers (engine = \"oci:docker.io/library/mysql:8.4\"), builds and servers that run \
already; see docs/do/containers.md and docs/do/engines.md.")]
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

/// The system that a command is about.
#[derive(Debug, Args)]
pub(super) struct SystemArgument {
    /// ENGINE[@VERSION][/STORAGE-ENGINE], such as mariadb@10.11/rocksdb
    #[arg(value_name = "ENGINE")]
    pub(super) name: SystemName,
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

impl SystemArgument {
    /// Fetches the engine unless the cache has it.
    pub(super) fn install(&self, cache: &Cache) -> anyhow::Result<Installation> {
        let catalogue = Catalogue::load()?;
        let entry = catalogue.find(&self.name)?;
        let mut fetching = Fetching::default();
        Ok(dyno_engine::fetch(&entry, cache, &mut |progress| fetching.show(&entry, &progress))?)
    }
}
