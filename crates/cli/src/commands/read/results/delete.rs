//! `dyno results delete`: deletes runs.

use std::process::ExitCode;

use clap::Args;
use dyno_store::{RunId, RunSummary, Store};

use super::words;
use crate::options::{ResultsFile, run_id};
use crate::output;

/// Delete runs with all their trials
#[derive(Debug, Args)]
#[command(after_help = "Without --yes it says what it would delete, and deletes nothing.

Example:
  dyno results delete 3 4 --yes")]
pub(super) struct Delete {
    /// Numbers of the runs
    #[arg(required = true, value_name = "RUN", value_parser = run_id)]
    runs: Vec<RunId>,
    #[command(flatten)]
    results: ResultsFile,
    /// Confirm the deletion; without it nothing is deleted
    #[arg(long)]
    yes: bool,
}

impl Delete {
    pub(super) fn execute(mut self) -> anyhow::Result<ExitCode> {
        self.runs.sort_unstable();
        self.runs.dedup();
        let runs = find(&Store::open_read_only(&self.results.path)?, &self.runs)?;
        if !self.yes {
            let list: Vec<_> = runs.iter().map(words::run).collect();
            let path = self.results.path.display();
            anyhow::bail!("{path}: nothing deleted; with --yes this deletes {}", list.join(", "));
        }
        let mut store = Store::open(&self.results.path)?;
        for run in &runs {
            store.delete_run(run.id)?;
            output::print(&format!("deleted {}\n", words::run(run)))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Finds the runs. If any of them is missing, returns an error, so that none is deleted.
fn find(store: &Store, ids: &[RunId]) -> anyhow::Result<Vec<RunSummary>> {
    let known = store.runs()?;
    let find = |id: &RunId| match known.iter().find(|run| run.id == *id) {
        Some(run) => Ok(run.clone()),
        None => Err(store.no_such_run(*id)?),
    };
    Ok(ids.iter().map(find).collect::<Result<_, dyno_store::StoreError>>()?)
}
