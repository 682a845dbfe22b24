//! What is on the command line. Every option is defined once, in the file of its command.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use dyno_stats::Margin;

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

/// A share in percent, as the least difference that matters.
pub(crate) fn margin(text: &str) -> Result<Margin, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent: f64 = number.parse().map_err(|_| "must be a percentage such as 2%".to_owned())?;
    let margin = Margin::new(percent / 100.0).filter(|margin| margin.relative() <= 10.0);
    margin.ok_or_else(|| "must be from 0% to 1000%".to_owned())
}
