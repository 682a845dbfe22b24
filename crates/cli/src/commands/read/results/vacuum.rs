//! `dyno results vacuum`: shrinks a file.

use clap::Args;
use dyno_store::Store;

use super::words;
use crate::options::ResultsFile;
use crate::output;

/// Shrink the file: free the space of deleted runs
#[derive(Debug, Args)]
#[command(after_help = "Takes up to twice the file's size on disk meanwhile.

Example:
  dyno results vacuum")]
pub(super) struct Vacuum {
    #[command(flatten)]
    results: ResultsFile,
}

impl Vacuum {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        // A missing file is an error here. To open it for writing would create it.
        Store::open_read_only(&self.results.path)?;
        let mut store = Store::open(&self.results.path)?;
        let (before, after) = store.vacuum()?;
        let (path, before, after) =
            (store.path().display(), words::bytes(before.bytes), words::bytes(after.bytes));
        output::print(&format!("{path}: {before} before, {after} now\n"))
    }
}
