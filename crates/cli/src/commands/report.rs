//! `dyno report`: the three reports of a run.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use dyno_report::{RenderOptions, render, reports};
use dyno_store::{RunChoice, RunId, Store};

use crate::arguments::ResultsFile;
use crate::output;

/// Print a run's reports: absolute, relative to the base, and cost per operation
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno report
  dyno report 3 --format markdown --out first-look.md")]
pub(crate) struct Report {
    /// The run's number; by default the latest run
    run: Option<i64>,
    #[command(flatten)]
    results: ResultsFile,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// File to write to, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For a page that renders Markdown
    Markdown,
    /// For programs
    Json,
}

impl From<Format> for dyno_report::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Markdown => Self::Markdown,
            Format::Json => Self::Json,
        }
    }
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let choice = self.run.map_or(RunChoice::Latest, |run| RunChoice::Id(RunId(run)));
        let run = Store::open_read_only(&self.results.path)?.load_run(choice)?;
        let reports = reports(&run);
        match self.out {
            None => output::print(&render(&reports, self.format.into(), &output::render_options()))?,
            Some(path) => fs::write(&path, render(&reports, self.format.into(), &RenderOptions::default()))
                .with_context(|| format!("cannot write {}", path.display()))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
