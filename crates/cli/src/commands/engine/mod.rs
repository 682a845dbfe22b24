//! `dyno engine`: uses database engines outside of runs.

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

use anyhow::ensure;
use clap::{Args, Subcommand};
use dyno_engine::{Cache, Catalogue, EngineName, Installation, pull_image};

use crate::output;
use crate::progress::Fetching;

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

/// The system that a command is about.
#[derive(Debug, Args)]
pub(super) struct SystemArgument {
    /// ENGINE[@VERSION][/STORAGE-ENGINE], such as mariadb@10.11/rocksdb; a folder with a build, such as ./build; or an image,
    /// such as oci:docker.io/library/mysql:8.4
    #[arg(value_name = "ENGINE")]
    pub(super) name: EngineName,
    /// The storage engine, of a folder or an image
    #[arg(long, value_name = "NAME")]
    storage_engine: Option<String>,
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
    /// The storage engine, from the name or the option. `None` for the engine's default.
    pub(super) fn storage_engine(&self) -> anyhow::Result<Option<String>> {
        let of_name = self.name.storage_engine();
        ensure!(
            of_name.is_none() || self.storage_engine.is_none(),
            "{} names its storage engine; leave --storage-engine out",
            self.name
        );
        Ok(of_name.map(str::to_owned).or_else(|| self.storage_engine.clone()))
    }
}

/// Finds an engine on this machine. Fetches it if it is missing.
pub(super) fn install(name: &EngineName, cache: &Cache) -> anyhow::Result<Installation> {
    match name {
        EngineName::Catalogue(name) => {
            let catalogue = Catalogue::load()?;
            let entry = catalogue.find(name)?;
            let mut fetching = Fetching::default();
            Ok(dyno_engine::fetch(&entry, cache, &mut |progress| fetching.show(&entry, &progress))?)
        }
        EngineName::Basedir(path) => Ok(Installation::from_basedir(path)?),
        EngineName::Image(image) => {
            if let Some(installation) = Installation::from_image(image, None)? {
                return Ok(installation);
            }
            output::tell(&format!("pulling the image {image}"));
            Ok(pull_image(image)?)
        }
    }
}
