//! `dyno engine stop`: stops a server.

use clap::Args;
use dyno_engine::{Cache, Running};

use super::system::SystemArgument;
use crate::output;

/// Stop a server that `dyno engine start` started, and remove its data
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine stop mariadb@10.11/rocksdb")]
pub(super) struct Stop {
    #[command(flatten)]
    system: SystemArgument,
}

impl Stop {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let storage_engine = self.system.storage_engine()?;
        let running = Running::new(&Cache::default_location());
        let stopped = running.stop(&self.system.name, storage_engine.as_deref())?;
        output::print(&format!("{stopped} stopped, its data removed\n"))
    }
}
