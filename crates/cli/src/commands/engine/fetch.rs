//! `dyno engine fetch`: brings an engine into the cache.

use clap::Args;
use dyno_engine::Cache;
use dyno_printable::printable;

use super::SystemArgument;
use crate::output;

/// Fetch an engine into the cache with this machine's package managers; nothing is installed
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno engine fetch mariadb@10.11")]
pub(super) struct Fetch {
    #[command(flatten)]
    system: SystemArgument,
}

impl Fetch {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let installation = self.system.install(&Cache::default_location())?;
        let (entry, version, root) =
            (&installation.entry, &installation.exact_version, installation.root.display());
        output::print(&format!("{entry} is {}, in {root}\n", printable(version)))
    }
}
