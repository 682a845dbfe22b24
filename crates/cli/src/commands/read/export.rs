//! `dyno export`: writes results for other tools.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use dyno_export::{
    DatasetOptions, ExportError, Exported, FigureFormat, FigureOptions, Grown, GrownRun, Options, Volume,
};
use dyno_store::{RunId, Store};
use indicatif::HumanBytes;

use crate::options::{ResultsFile, run_id};
use crate::{interrupt, output};

/// Export the tables of a results file as Parquet, CSV or JSON Lines, or its figures for Bencher or Apache Otava
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno export results/
  dyno export --format csv --run 3 results/
  dyno export --partition --to dataset/
  dyno export --format bmf --run 3 bencher/
  dyno export --format otava otava/")]
pub(crate) struct Export {
    /// Folder to write to; created if missing
    #[arg(value_name = "DIR", required_unless_present = "to")]
    folder: Option<PathBuf>,
    /// The same as DIR
    #[arg(long, value_name = "DIR", conflicts_with = "folder")]
    to: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsFile,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Parquet)]
    format: Format,
    /// Add the runs to a data set with a folder for each plan, date and host. Runs that the data set has are not
    /// added again
    #[arg(long)]
    partition: bool,
    /// Only this run; may be repeated
    #[arg(long = "run", value_name = "RUN", value_parser = run_id)]
    runs: Vec<RunId>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Apache Parquet, for `DuckDB`, `ClickHouse`, pandas, Spark
    Parquet,
    /// Comma-separated values with a header line
    Csv,
    /// JSON Lines: one object per line
    Jsonl,
    /// Bencher Metric Format: figures of each run, for `bencher run --adapter json`
    Bmf,
    /// CSV files and a configuration for Apache Otava: figures of each plan over its runs
    Otava,
}

impl Export {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let outcome = if self.partition { self.grow() } else { self.write_all() };
        match outcome {
            Err(error) if matches!(error.downcast_ref(), Some(ExportError::Stopped)) => {
                let of_dataset = || "stopped; the runs above were added".to_owned();
                output::warn(&if self.partition { of_dataset() } else { error.to_string() });
                Ok(interrupt::exit_code())
            }
            outcome => outcome.map(|()| ExitCode::SUCCESS),
        }
    }

    fn write_all(&self) -> anyhow::Result<()> {
        match self.format {
            Format::Parquet => self.write_tables(dyno_export::Format::Parquet),
            Format::Csv => self.write_tables(dyno_export::Format::Csv),
            Format::Jsonl => self.write_tables(dyno_export::Format::Jsonl),
            Format::Bmf => self.write_figures(FigureFormat::Bmf),
            Format::Otava => self.write_figures(FigureFormat::Otava),
        }
    }

    /// Writes each table to a separate file.
    fn write_tables(&self, format: dyno_export::Format) -> anyhow::Result<()> {
        let stop = interrupt::stop_flag()?;
        let store = Store::open_read_only(&self.results.path)?;
        let options = Options { format, runs: self.runs(), overwrite: self.force, stop: &stop };
        let exported = dyno_export::export(&store, &self.folder(), &options)?;
        output::print(&exported.iter().map(line).collect::<String>())
    }

    fn write_figures(&self, format: FigureFormat) -> anyhow::Result<()> {
        let stop = interrupt::stop_flag()?;
        let store = Store::open_read_only(&self.results.path)?;
        let options = FigureOptions { format, runs: self.runs(), overwrite: self.force, stop: &stop };
        let exported = dyno_export::export_figures(&store, &self.folder(), &options)?;
        for left in &exported.left_out {
            output::tell(&format!("left out: run {} {}", left.run, left.why));
        }
        output::print(&exported.files.iter().map(line).collect::<String>())
    }

    /// Adds the runs to a partitioned data set, and prints a line for each run.
    fn grow(&self) -> anyhow::Result<()> {
        if self.format != Format::Parquet {
            bail!("a partitioned data set is in Parquet; leave out --format, or leave out --partition");
        }
        let stop = interrupt::stop_flag()?;
        let store = Store::open_read_only(&self.results.path)?;
        let options = DatasetOptions { runs: self.runs(), rewrite: self.force, stop: &stop };
        let mut printed = Ok(());
        dyno_export::grow_dataset(&store, &self.folder(), &options, &mut |run| {
            if printed.is_ok() {
                printed = output::print(&run_line(run));
            }
        })?;
        printed
    }

    fn folder(&self) -> PathBuf {
        self.folder.clone().or(self.to.clone()).unwrap_or_default()
    }

    fn runs(&self) -> Option<Vec<RunId>> {
        (!self.runs.is_empty()).then(|| self.runs.clone())
    }
}

fn line(Exported { path, rows, bytes }: &Exported) -> String {
    format!("{}: {}\n", path.display(), size(*rows, *bytes))
}

fn run_line(GrownRun { run, key, grown }: &GrownRun) -> String {
    let size = |Volume { rows, bytes }: Volume| size(rows, bytes);
    match grown {
        Grown::Added(volume) => format!("run {run}: added as {key}: {}\n", size(*volume)),
        Grown::Replaced(volume) => format!("run {run}: replaced {key}: {}\n", size(*volume)),
        Grown::Kept => format!("run {run}: is there already, as {key}\n"),
        Grown::StillRunning => {
            format!("run {run}: is running and was left out; export again when it has ended\n")
        }
    }
}

fn size(rows: u64, bytes: u64) -> String {
    let plural = if rows == 1 { "" } else { "s" };
    format!("{rows} row{plural}, {}", HumanBytes(bytes))
}
