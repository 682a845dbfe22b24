//! `dyno results merge`: the runs of several files in one.

use std::path::PathBuf;

use clap::Args;
use dyno_store::{Merged, MergedRun, Store};

use crate::arguments::ResultsFile;
use crate::output;

/// Copy the runs of other results files, such as those of other hosts, into this one
#[derive(Debug, Args)]
#[command(after_help = "A run that is in both is kept once: the one with more completed trials.

Example:
  dyno results merge a.db b.db --results all.db")]
pub(super) struct Merge {
    /// Files to copy runs from
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    results: ResultsFile,
}

impl Merge {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        // All of them can be read, before the first is taken over.
        let sources =
            self.files.iter().map(|file| Store::open_read_only(file)).collect::<Result<Vec<_>, _>>()?;
        let mut store = Store::open(&self.results.path)?;
        for source in &sources {
            for run in store.merge(source)? {
                output::print(&format!("{}: {}\n", source.path().display(), words(run)))?;
            }
        }
        Ok(())
    }
}

fn words(MergedRun { source, merged }: MergedRun) -> String {
    match merged {
        Merged::Added(run) => format!("run {source} is run {run} now"),
        Merged::Replaced(run) => {
            format!("run {source} has more trials than the same run here and replaced run {run}")
        }
        Merged::Kept(run) => format!("run {source} is here already, as run {run}"),
        Merged::StillRunning => {
            format!("run {source} is running and was left out; merge again when it has ended")
        }
    }
}
