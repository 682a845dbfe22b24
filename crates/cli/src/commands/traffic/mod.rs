//! `dyno traffic`: the statements that clients sent to a server, from its logs.

mod bar;
mod import;
mod mix;
mod show;
mod text;
mod words;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Import the statements that a server logged, show them, and make workloads of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno traffic import slow.log slow.log.1.gz --out mine.traffic
  dyno traffic show mine.traffic
  dyno traffic mix mine.traffic --out mine.lua")]
pub(crate) struct Traffic {
    #[command(subcommand)]
    command: TrafficCommand,
}

#[derive(Debug, Subcommand)]
enum TrafficCommand {
    Import(import::Import),
    Mix(mix::Mix),
    Show(show::Show),
}

impl Traffic {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.command {
            TrafficCommand::Import(import) => import.execute(),
            TrafficCommand::Mix(mix) => mix.execute(),
            TrafficCommand::Show(show) => show.execute().map(|()| ExitCode::SUCCESS),
        }
    }
}
