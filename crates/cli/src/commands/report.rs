//! `dyno report`: the three reports of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use dyno_report::{RenderOptions, render, reports};
use dyno_store::{RunChoice, RunId, Store};

use crate::arguments::ResultsFile;
use crate::{output, page};

/// Print a run's reports: absolute, relative to the base, and cost per operation
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno report
  dyno report --format html
  dyno report 3 --format markdown --out first-look.md")]
pub(crate) struct Report {
    /// The run's number; by default the latest run
    run: Option<i64>,
    #[command(flatten)]
    results: ResultsFile,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// File to write to, instead of standard output (`-` is that; HTML goes to PLAN-RUN.html beside the results)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For a page that renders Markdown
    Markdown,
    /// For a browser: one file, with every test's seconds, latencies and counters
    Html,
    /// For programs
    Json,
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let choice = self.run.map_or(RunChoice::Latest, |run| RunChoice::Id(RunId(run)));
        let store = Store::open_read_only(&self.results.path)?;
        let run = store.load_run(choice)?;
        let is_standard_output = self.out.as_deref().is_some_and(|path| path == Path::new("-"));
        let out = self.out.filter(|_| !is_standard_output);
        let format = match self.format {
            Format::Html if is_standard_output => {
                output::print(&page::render(&store, &run)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            Format::Html => {
                let path = out.unwrap_or_else(|| page::default_path(&self.results.path, &run));
                page::write(&store, &run, &path)?;
                output::tell(&format!("wrote {}", path.display()));
                return Ok(ExitCode::SUCCESS);
            }
            Format::Text => dyno_report::Format::Text,
            Format::Markdown => dyno_report::Format::Markdown,
            Format::Json => dyno_report::Format::Json,
        };
        let reports = reports(&run);
        match out {
            None => output::print(&render(&reports, format, &output::render_options()))?,
            Some(path) => fs::write(&path, render(&reports, format, &RenderOptions::default()))
                .with_context(|| format!("cannot write {}", path.display()))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
