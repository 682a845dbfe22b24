//! `dyno crash-client`: a client of SQLite that can be killed. `dyno crash` starts it; users do not.

use std::io::{stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

/// Execute the statements on standard input, one per line, on a SQLite database
#[derive(Debug, Args)]
#[command(after_help = "Example:
  echo 'SELECT 1' | dyno crash-client rows.sqlite")]
pub(crate) struct CrashClient {
    /// The database
    file: PathBuf,
}

impl CrashClient {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        dyno_crash::serve_sqlite(&self.file, stdin().lock(), stdout().lock())
            .with_context(|| format!("cannot serve {}", self.file.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
