//! What is on the command line. Every option is defined once, in the file of its command.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use crate::commands::Command;

/// A dynamometer for databases: puts database systems under the same load, measures what each delivers and
/// burns, and says which is better, by how much and how sure.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Exit status: 0 success, 1 failure, 2 wrong usage or a plan with mistakes, 130 stopped by ^C.

Example:
  dyno quickstart"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where results are kept.
#[derive(Debug, Args)]
pub(crate) struct ResultsFile {
    /// Results file, a SQLite database
    #[arg(long = "results", value_name = "FILE", default_value = "dyno.db")]
    pub(crate) path: PathBuf,
}

/// How a list or a description is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For programs
    Json,
}
