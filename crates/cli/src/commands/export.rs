//! `dyno export`: results for other tools.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use dyno_export::{ExportError, Exported, Options};
use dyno_store::{RunId, Store};
use indicatif::HumanBytes;

use crate::arguments::ResultsFile;
use crate::{interrupt, output};

/// Export the tables of a results file as Parquet, CSV or JSON Lines
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno export results/
  dyno export --format csv --run 3 results/")]
pub(crate) struct Export {
    /// Folder to write to; created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    results: ResultsFile,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Parquet)]
    format: Format,
    /// Only this run; may be repeated
    #[arg(long = "run", value_name = "RUN")]
    runs: Vec<i64>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Apache Parquet, for `DuckDB`, `ClickHouse`, pandas, Spark
    Parquet,
    /// Comma-separated values with a header line
    Csv,
    /// JSON Lines: one object a line
    Jsonl,
}

impl From<Format> for dyno_export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Parquet => Self::Parquet,
            Format::Csv => Self::Csv,
            Format::Jsonl => Self::Jsonl,
        }
    }
}

impl Export {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let stop = interrupt::stop_flag()?;
        let store = Store::open_read_only(&self.results.path)?;
        let options = Options {
            format: self.format.into(),
            runs: (!self.runs.is_empty()).then(|| self.runs.iter().copied().map(RunId).collect()),
            overwrite: self.force,
            stop: &stop,
        };
        match dyno_export::export(&store, &self.folder, &options) {
            Err(ExportError::Stopped) => {
                output::tell(&ExportError::Stopped.to_string());
                Ok(interrupt::exit_code())
            }
            exported => {
                output::print(&exported?.iter().map(line).collect::<String>())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn line(Exported { path, rows, bytes }: &Exported) -> String {
    let plural = if *rows == 1 { "" } else { "s" };
    format!("{}: {rows} row{plural}, {}\n", path.display(), HumanBytes(*bytes))
}
