//! `dyno results`: lists, shows and maintains results files.

mod check;
mod delete;
mod list;
mod merge;
mod show;
mod vacuum;
pub(in crate::commands) mod words;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// List, show, delete and merge the runs of a results file; check and shrink it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno results list
  dyno results merge other-host.db --results all.db")]
pub(crate) struct Results {
    #[command(subcommand)]
    command: ResultsCommand,
}

#[derive(Debug, Subcommand)]
enum ResultsCommand {
    List(list::List),
    Show(show::Show),
    Delete(delete::Delete),
    Merge(merge::Merge),
    Vacuum(vacuum::Vacuum),
    Check(check::Check),
}

impl Results {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.command {
            ResultsCommand::List(list) => list.execute()?,
            ResultsCommand::Show(show) => show.execute()?,
            ResultsCommand::Delete(delete) => return delete.execute(),
            ResultsCommand::Merge(merge) => merge.execute()?,
            ResultsCommand::Vacuum(vacuum) => vacuum.execute()?,
            ResultsCommand::Check(check) => return check.execute(),
        }
        Ok(ExitCode::SUCCESS)
    }
}
