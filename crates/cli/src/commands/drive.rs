//! `dyno drive`: the load process. Started by `dyno run`, not by people.

use std::process::ExitCode;

use clap::Args;

/// Run the job on standard input, and write its progress to standard output
#[derive(Debug, Args)]
#[command(hide = true)]
#[command(after_help = "Example:
  dyno drive < job.json")]
pub(crate) struct Drive {}

impl Drive {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Self {} = self;
        drive()
    }
}

/// Runs the job. A job's failure is a frame, not an error of this command.
pub(crate) fn drive() -> anyhow::Result<ExitCode> {
    dyno_load::drive_stdio()?;
    Ok(ExitCode::SUCCESS)
}
