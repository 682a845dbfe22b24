//! `dyno engine fetch`: brings an engine into the cache.

use std::fmt::Write as _;

use clap::Args;
use dyno_engine::{Cache, Pin};
use dyno_printable::printable;

use super::SystemArgument;
use crate::output;

/// Fetch an engine into the cache with this machine's package managers; nothing is installed
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno engine fetch mariadb@10.11
  dyno engine fetch postgres@17")]
pub(super) struct Fetch {
    #[command(flatten)]
    system: SystemArgument,
}

impl Fetch {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let installation = self.system.install(&cache)?;
        let (entry, version, root) =
            (&installation.entry, &installation.exact_version, installation.root.display());
        let mut text = format!("{entry} is {}, in {root}\n", printable(version));
        if let Some(Pin { from, checked, sha256, .. }) = entry.pin(&cache)? {
            let [from, checked, sha256] = [&from, &checked, &sha256].map(|text| printable(text).into_owned());
            let _ = write!(text, "from {from}\nchecked by {checked}; pinned with SHA-256 {sha256}\n");
        }
        output::print(&text)
    }
}
