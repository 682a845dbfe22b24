//! `dyno results list`: lists the runs of a file.

use std::fmt::Write as _;

use clap::Args;
use dyno_store::{RunSummary, Store, StoreError};
use serde_json::json;

use super::words;
use crate::options::{ResultsFile, TextOrJson};
use crate::output;

/// List the runs of a results file
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dyno results list --format json")]
pub(super) struct List {
    #[command(flatten)]
    results: ResultsFile,
    /// Show the space that each run takes in the file; this reads the whole file
    #[arg(long)]
    sizes: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// A run, with the approximate size of its data in bytes if that was requested.
type Line = (RunSummary, Option<u64>);

impl List {
    pub(super) fn execute(self) -> anyhow::Result<()> {
        let store = Store::open_read_only(&self.results.path)?;
        let runs = store
            .runs()?
            .into_iter()
            .map(|run| {
                let bytes = self.sizes.then(|| store.run_bytes(run.id)).transpose()?;
                Ok((run, bytes))
            })
            .collect::<Result<Vec<Line>, StoreError>>()?;
        match self.format {
            TextOrJson::Json => {
                output::print(&output::json(&json!(runs.iter().map(object).collect::<Vec<_>>()).to_string()))
            }
            TextOrJson::Text => output::print(&text(&runs, &store)?),
        }
    }
}

fn object((run, bytes): &Line) -> serde_json::Value {
    json!({
        "run": run.id.0,
        "plan": run.plan_name,
        "title": run.plan_title,
        "started_at_ms": run.started_at_ms,
        "finished_at_ms": run.finished_at_ms,
        "state": run.state.as_str(),
        "completed_trials": run.completed_trials,
        "failed_trials": run.failed_trials,
        "bytes": bytes,
    })
}

fn text(runs: &[Line], store: &Store) -> anyhow::Result<String> {
    let row = |(run, bytes): &Line| {
        vec![
            run.id.to_string(),
            run.plan_name.clone(),
            words::moment(run.started_at_ms),
            run.state.as_str().to_owned(),
            (run.completed_trials + run.failed_trials).to_string(),
            run.failed_trials.to_string(),
            bytes.map(words::bytes).unwrap_or_default(),
        ]
    };
    let size = if runs.iter().any(|(_, bytes)| bytes.is_some()) { "size" } else { "" };
    let header = ["run", "plan", "started", "state", "trials", "failed", size];
    let table = words::table(&header, runs.iter().map(row), &[0, 4, 5, 6]);
    let size = store.size()?;
    let path = store.path().display();
    let mut text = format!("{table}\n\n{path}: {}", words::bytes(size.bytes));
    if size.free_bytes > 0 {
        let free = words::bytes(size.free_bytes);
        let _ = write!(text, ", {free} of it free; `dyno results vacuum` gives that back");
    }
    text.push('\n');
    Ok(text)
}
