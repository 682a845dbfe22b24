//! `dyno engine fetch`: brings an engine into the cache.

use std::fmt::Write as _;

use clap::Args;
use dyno_engine::{Cache, EngineName, Pin};
use dyno_printable::printable;

use super::system::install;
use crate::output;

/// Fetch an engine into the cache with this machine's package managers; nothing is installed
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno engine fetch mariadb@10.11
  dyno engine fetch postgres@17
  dyno engine fetch oci:docker.io/library/mysql:8.4")]
pub(super) struct Fetch {
    /// ENGINE[@VERSION], such as mariadb@10.11, or an image, such as oci:docker.io/library/mysql:8.4
    #[arg(value_name = "ENGINE")]
    name: EngineName,
}

impl Fetch {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let cache = Cache::default_location();
        let installation = install(&self.name, &cache)?;
        let (entry, version) = (&installation.entry, &installation.exact_version);
        let place = installation.image().unwrap_or_else(|| installation.root.display().to_string());
        let mut text = format!("{entry} is {}, in {}\n", printable(version), printable(&place));
        if let Some(Pin { from, checked, sha256, .. }) = entry.pin(&cache)? {
            let [from, checked, sha256] = [&from, &checked, &sha256].map(|text| printable(text).into_owned());
            let _ = write!(text, "from {from}\nchecked by {checked}; pinned with SHA-256 {sha256}\n");
        }
        output::print(&text)
    }
}
