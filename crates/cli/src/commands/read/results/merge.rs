//! `dyno results merge`: copies the runs of several files into one.

use std::path::{Path, PathBuf};

use clap::Args;
use dyno_store::{Merged, MergedRun, Store};

use crate::options::ResultsFile;
use crate::output;

/// Copy the runs of other results files, such as those of other hosts, into this one
#[derive(Debug, Args)]
#[command(
    after_help = "A run that is in both is kept once: the one with more completed trials. Of a run that is spread over hosts, rounds \
that are missing are added.

Example:
  dyno results merge a.db b.db --results all.db"
)]
pub(super) struct Merge {
    /// Files to copy runs from
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    results: ResultsFile,
}

impl Merge {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        // Opens each file once before the first is merged, so that a file that cannot be read is an early error.
        // The files are closed again, because each open store takes three of the process's file descriptors.
        for file in &self.files {
            Store::open_read_only(file)?;
        }
        let mut store = Store::open(&self.results.path)?;
        store.in_bulk(|store| self.files.iter().try_for_each(|file| merge(store, file)))
    }
}

fn merge(store: &mut Store, file: &Path) -> anyhow::Result<()> {
    let source = Store::open_read_only(file)?;
    for run in store.merge(&source)? {
        output::print(&format!("{}: {}\n", file.display(), words(run)))?;
    }
    Ok(())
}

fn words(MergedRun { source, merged }: MergedRun) -> String {
    match merged {
        Merged::Added(run) => format!("run {source} is run {run} now"),
        Merged::Replaced(run) => {
            format!("run {source} has more trials than the same run here and replaced run {run}")
        }
        Merged::Kept(run) => format!("run {source} is here already, as run {run}"),
        Merged::Joined { run, rounds: 0 } => {
            format!("the rounds of run {source} are here already, in run {run}")
        }
        Merged::Joined { run, rounds: 1 } => format!("run {source} gave a round to run {run}"),
        Merged::Joined { run, rounds } => format!("run {source} gave {rounds} rounds to run {run}"),
        Merged::StillRunning => {
            format!("run {source} is running, so it was left out; merge again after it has ended")
        }
    }
}
