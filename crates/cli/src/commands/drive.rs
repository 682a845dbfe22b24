//! `dyno drive`: the load process. Started by `dyno run`, not by people.

use std::process::ExitCode;

use clap::Args;

/// Do the job on standard input, say on standard output how it goes
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

/// Does the job; how it went is said in frames, so this succeeds even where the job does not.
pub(crate) fn drive() -> anyhow::Result<ExitCode> {
    dyno_load::drive_stdio()?;
    Ok(ExitCode::SUCCESS)
}
