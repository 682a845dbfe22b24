//! `dyno engine add`: makes a user's own entry for an archive.

use clap::Args;
use dyno_engine::{Cache, SystemName};
use dyno_printable::printable;

use crate::output;
use crate::progress::Fetching;

/// Make your own entry for an archive with a server
#[derive(Debug, Args)]
#[command(
    after_help = "Dyno asks the server in the archive for its product and version. The entry is a file that you can change: see \
docs/do/engines.md.

Examples:
  dyno engine add https://cdn.mysql.com/archives/mysql-8.0/mysql-8.0.22-linux-glibc2.17-x86_64-minimal.tar.xz
  dyno engine add build/mysql-patched.tar.gz --name mysql-patched"
)]
pub(super) struct Add {
    /// Address or file of an archive: .tar.gz, .tgz, .tar.xz, .txz or .zip
    #[arg(value_name = "ADDRESS|FILE")]
    place: String,
    /// Name of the entry, instead of the product and its version
    #[arg(long, value_name = "ENGINE[@VERSION]")]
    name: Option<SystemName>,
    /// The checksum that the archive must have, as sha256sum prints it
    #[arg(long, value_name = "DIGITS")]
    sha256: Option<String>,
}

impl Add {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        if let Some(storage_engine) = self.name.as_ref().and_then(|name| name.storage_engine.as_ref()) {
            anyhow::bail!(
                "an entry has all storage engines of its server; write --name without /{storage_engine}"
            );
        }
        let cache = Cache::default_location();
        let mut fetching = Fetching::default();
        let mut show = |progress| fetching.show(&self.place, &progress);
        let (name, sha256) = (self.name.as_ref(), self.sha256.as_deref());
        let added = dyno_engine::add(&self.place, name, sha256, &cache, &mut show)?;
        let (entry, file, version) = (&added.entry, added.file.display(), printable(&added.exact_version));
        output::print(&format!(
            "{entry} is {version}, in {file}\nSHA-256 {}\n`dyno engine start {entry}` starts it\n",
            added.sha256
        ))
    }
}
