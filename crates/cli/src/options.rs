//! Options that several commands have, and how their values are read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use dyno_engine::{Family, Replication, ReplicationMode};
use dyno_report::Format;
use dyno_stats::Margin;
use dyno_store::RunId;

/// How a command prints.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Manner {
    /// Print results, warnings and errors, but no progress and no notes
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    // Not a doc comment, because a doc comment would show the variable in backticks.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto, hide_default_value = true)]
    #[arg(global = true, help_heading = "Output")]
    #[arg(help = "Colours in results; auto colours only output to a terminal, and not if NO_COLOR is set")]
    pub(crate) color: ColorWhen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// The default results file.
const DEFAULT_RESULTS: &str = "dyno.db";

/// The option that names the results file.
#[derive(Clone, Debug, Args)]
pub(crate) struct ResultsFile {
    /// Results file, a SQLite database
    #[arg(long = "results", value_name = "FILE", env = "DYNO_RESULTS", default_value = DEFAULT_RESULTS)]
    pub(crate) path: PathBuf,
}

impl ResultsFile {
    /// Whether the path is the default. Suggested commands then omit the option.
    pub(crate) fn is_default(&self) -> bool {
        self.path == Path::new(DEFAULT_RESULTS)
    }
}

/// Output format of a list or a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text for people
    Text,
    /// JSON for programs
    Json,
}

/// Output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for a terminal
    Text,
    /// Markdown
    Markdown,
    /// HTML: one file for a browser
    Html,
    /// JSON for programs
    Json,
}

impl From<ReportFormat> for Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Markdown => Self::Markdown,
            ReportFormat::Html => Self::Html,
            ReportFormat::Json => Self::Json,
        }
    }
}

/// Largest number of replicas of a system. Plans have the same limit.
pub(crate) const REPLICAS_MAX: u32 = 8;

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplicationWord {
    /// A commit waits for no replica
    Asynchronous,
    /// A commit waits until one replica has received it
    SemiSynchronous,
    /// A commit waits until all replicas have received it
    Synchronous,
    /// A commit waits until all replicas of a MariaDB Galera cluster have received it; the replicas take writes too
    Galera,
}

impl ReplicationWord {
    /// Returns the configuration of replication to `replicas` replicas, or an error if servers of the family do not
    /// support it.
    pub(crate) fn of(self, replicas: u32, family: Family) -> anyhow::Result<Replication> {
        let mode = match self {
            Self::Asynchronous => ReplicationMode::Asynchronous,
            Self::SemiSynchronous => ReplicationMode::SemiSynchronous,
            Self::Synchronous => ReplicationMode::Synchronous,
            Self::Galera => ReplicationMode::Galera,
        };
        if family == Family::Mariadb && mode == ReplicationMode::Synchronous && replicas > 1 {
            bail!(
                "a commit of MariaDB waits for one replica at most; write --replication semi-synchronous or galera, or \
                 --replicas 1"
            );
        }
        Ok(Replication { mode, replicas, delay_seconds: 0 })
    }
}

/// Parses a margin in percent.
pub(crate) fn margin(text: &str) -> Result<Margin, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent: f64 = number.parse().map_err(|_| "must be a percentage such as 2%".to_owned())?;
    let margin = Margin::new(percent / 100.0).filter(|margin| margin.relative() <= 10.0);
    margin.ok_or_else(|| "must be from 0% to 1000%".to_owned())
}

/// Parses a run's number. If the text is the path of a results file, the error names the option `--results`.
pub(crate) fn run_id(text: &str) -> Result<RunId, String> {
    text.parse().map(RunId).map_err(|_| {
        if Path::new(text).is_file() {
            format!("must be a run's number; to read this results file, give --results {text}")
        } else {
            "must be a run's number, as `dyno results list` prints it".to_owned()
        }
    })
}

/// Parses a duration.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("must be a time such as 90s or 10m".to_owned()),
    }
}

/// Parses a setting of the form `NAME=VALUE`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE".to_owned()),
    }
}

/// Parses a number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) && number > 0.0 => Ok(number),
        _ => Err("must be a number above 0".to_owned()),
    }
}
