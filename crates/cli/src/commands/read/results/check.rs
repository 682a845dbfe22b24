//! `dyno results check`: checks the integrity of a file.

use std::process::ExitCode;

use clap::Args;
use dyno_printable::Printable;
use dyno_store::Store;

use crate::options::ResultsFile;
use crate::output;

/// Check the whole file for damage and inconsistencies
#[derive(Debug, Args)]
#[command(after_help = "Exit status 1 if anything is. Reads every page, reference, histogram and series.

Example:
  dyno results check --results old.db")]
pub(super) struct Check {
    #[command(flatten)]
    results: ResultsFile,
}

impl Check {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let store = Store::open_read_only(&self.results.path)?;
        let faults = store.check_contents()?;
        let path = store.path().display();
        if faults.is_empty() {
            output::print(&format!("{path}: no fault found\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        for fault in &faults {
            output::print(&format!("{path}: {}\n", Printable(fault)))?;
        }
        let plural = if faults.len() == 1 { "" } else { "s" };
        output::warn(&format!(
            "error: {path}: {} fault{plural}; restore it from a copy, or try sqlite3's .recover",
            faults.len()
        ));
        Ok(ExitCode::FAILURE)
    }
}
