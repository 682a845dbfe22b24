//! `dyno traffic import`: makes a traffic file from logs and captures.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use dyno_traffic::{Imported, LogFormat, Options, TrafficError};
use indicatif::HumanCount;

use super::bar::Bar;
use super::words::plural;
use crate::{interrupt, output};

/// Import the logs of a server into a traffic file
///
/// Reads the slow log and the general log of MySQL, MariaDB and Percona Server, ProxySQL's eventslog in JSON, and
/// PostgreSQL's csvlog, jsonlog and log to stderr. Also reads captures of unencrypted network traffic, as `tcpdump -w`
/// writes them. Logs may be packed with gzip, zstd or xz. Give the logs of one server, in the order in which they were
/// written. Passwords in statements are never imported.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dyno traffic import slow.log.2.gz slow.log.1 slow.log --out mine.traffic
  zcat postgresql-*.csv.gz | dyno traffic import - --out mine.traffic
  dyno traffic import traffic.pcap --out mine.traffic
  dyno traffic import slow.log --redact --out mine.traffic")]
pub(super) struct Import {
    /// Logs or captures to read, the oldest first; `-` is standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Traffic file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Format of the logs, if they do not show it at their beginning
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<Format>,
    /// Keep only the lengths of strings and numbers in statements
    #[arg(long)]
    redact: bool,
    /// Keep the names of users instead of hashes of them
    #[arg(long)]
    keep_users: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Slow log of MySQL, MariaDB or Percona Server
    Slow,
    /// General log of MySQL or MariaDB
    General,
    /// ProxySQL with `eventslog_format = 2`
    Proxysql,
    /// PostgreSQL with `log_destination = csvlog`
    Csvlog,
    /// PostgreSQL with `log_destination = jsonlog`
    Jsonlog,
    /// PostgreSQL with `log_destination = stderr`
    Stderr,
    /// Capture of MySQL's or MariaDB's traffic
    PcapMysql,
    /// Capture of PostgreSQL's traffic
    PcapPostgresql,
}

impl From<Format> for LogFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Slow => Self::Slow,
            Format::General => Self::General,
            Format::Proxysql => Self::Proxysql,
            Format::Csvlog => Self::Csvlog,
            Format::Jsonlog => Self::Jsonlog,
            Format::Stderr => Self::Stderr,
            Format::PcapMysql => Self::PcapMysql,
            Format::PcapPostgresql => Self::PcapPostgresql,
        }
    }
}

impl Import {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let stop = interrupt::stop_flag()?;
        let options = Options {
            out: &self.out,
            overwrite: self.force,
            format: self.log_format.map(LogFormat::from),
            redact: self.redact,
            keep_users: self.keep_users,
            stop: &stop,
        };
        let mut bar = Bar::default();
        let outcome = dyno_traffic::import(&self.logs, &options, &mut |progress| bar.show(progress));
        drop(bar);
        match outcome {
            Err(error @ TrafficError::Stopped) => {
                output::warn(&error.to_string());
                Ok(interrupt::exit_code())
            }
            outcome => {
                output::print(&self.told(&outcome?))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    fn told(&self, imported: &Imported) -> String {
        let Imported { statements, sessions, lost } = *imported;
        let out = self.out.display();
        let statements = plural(HumanCount(statements), statements, "statement");
        let sessions = plural(HumanCount(sessions), sessions, "session");
        let told = format!("{out}: {statements} of {sessions}\n");
        if lost == 0 {
            return told;
        }
        let share = lost as f64 / (lost + imported.statements) as f64 * 100.0;
        let entries = if lost == 1 { "log entry" } else { "log entries" };
        let lost = HumanCount(lost);
        format!(
            "{told}{lost} {entries} ({share:.2}%) could not be read; `dyno traffic show {out}` shows why\n"
        )
    }
}
