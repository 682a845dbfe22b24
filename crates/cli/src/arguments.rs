//! The command line. Every option is defined once, in the file of its command.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand as _};

use crate::commands::{Command, CrashClient, Drive, Task};
use crate::options::Manner;

/// Compares database engines, versions and settings: shows which is faster, by how much, with what confidence, and
/// at what cost.
#[derive(Debug, Parser)]
#[command(name = "dyno", version = VERSION, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 success, 1 failure, 2 wrong usage or a plan with mistakes, 130 stopped by ^C.

Example:
  dyno quickstart"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The version with the commit that the program was built from, or only the version if the commit is unknown.
pub(crate) const VERSION: &str = env!("DYNO_VERSION");

/// Commands that Dyno starts itself, on this host and on others. They are separate from those of [`Arguments`], so
/// that help, errors and completions omit them.
#[derive(Debug, Parser)]
#[command(name = "dyno", version = VERSION, max_term_width = 100)]
pub(crate) enum Inner {
    Drive(Drive),
    CrashClient(CrashClient),
    Task(Box<Task>),
}

impl Inner {
    /// Whether the first word of a command line names a command that Dyno starts itself.
    pub(crate) fn is_called(first: Option<&OsString>) -> bool {
        first.and_then(|word| word.to_str()).is_some_and(Self::has_subcommand)
    }

    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Drive(drive) => drive.execute(),
            Self::CrashClient(client) => client.execute(),
            Self::Task(task) => task.execute(),
        }
    }
}
