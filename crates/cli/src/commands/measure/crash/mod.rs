//! `dyno crash`: tests whether a system loses acknowledged commits when it crashes repeatedly.

mod client;
mod text;

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use dyno_crash::{
    CLIENTS_MAX, COMMITS_MAX, CRASHES_MAX, Crash, CrashError, CrashOptions, CrashReport, CrashedSystem,
    Failover, Observer, VOLUME_BYTES_MIN, Verdict, crash_test, failover_test,
};
use dyno_engine::{Cache, Family};
use dyno_host::parse_bytes;
use dyno_report::json_text;
use dyno_settings::{CrashKind, Product, Profile, Translation};

pub(crate) use self::client::CrashClient;
use crate::commands::engine::system::{SystemArgument, install};
use crate::options::{REPLICAS_MAX, ReplicationWord, TextOrJson, setting};
use crate::{failure, interrupt, output};

/// Crash a system under load repeatedly, and check whether it loses acknowledged commits
#[derive(Debug, Args)]
#[command(
    after_help = "Clients commit transactions and record which are acknowledged. The system is crashed and started again, and \
every row is checked. The settings say what may be lost; docs/do/crash.md explains the words and the limits.

Exit status: 0 it kept the guarantees of its settings; 1 it did not, or did not start again; 2 an error; 130 \
stopped by ^C.

Examples:
  dyno crash mysql@5.6.24 --profile safe
  dyno crash postgres --profile safe --kill power
  dyno crash mysql@5.6.24 --set innodb_flush_log_at_trx_commit=0 --crashes 5
  dyno crash oci:docker.io/library/mysql:8.4 --profile safe
  dyno crash postgres --replicas 2 --replication synchronous --cut-off-ms 50"
)]
pub(crate) struct CrashCommand {
    #[command(flatten)]
    system: SystemArgument,
    /// Profile of settings: stock, like-56, safe, fast or a .toml file
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// A server variable or a pragma; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// The kind of crash
    #[arg(long, value_enum, default_value_t = Kill::Process)]
    kill: Kill,
    /// Number of crashes (default 50)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(CRASHES_MAX)))]
    crashes: Option<u32>,
    /// Least number of acknowledged commits before each crash (default 2000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=COMMITS_MAX))]
    commits: Option<u64>,
    /// Number of clients (default 16, and 4 for SQLite)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(CLIENTS_MAX)))]
    clients: Option<u32>,
    /// Seed of the random choices: the times of crashes, the transactions that are rolled back, and the unflushed
    /// writes that survive a power cut
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Size of the volume whose power is cut (default 4G)
    #[arg(long, value_name = "SIZE", value_parser = volume)]
    volume: Option<u64>,
    /// Number of replicas. After each crash, the replica that has received most takes the place of the crashed server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(REPLICAS_MAX)))]
    replicas: Option<u32>,
    /// What a commit waits for: no replica, one, or all
    #[arg(long, value_enum, requires = "replicas", default_value_t = ReplicationWord::Asynchronous)]
    replication: ReplicationWord,
    /// Time before each crash during which the replicas receive nothing, in ms
    #[arg(long, value_name = "MS", requires = "replicas", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    cut_off_ms: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kill {
    /// Kill the server's processes; the system keeps what they wrote
    Process,
    /// Cut the power of the volume; what was not flushed is lost. Needs root
    Power,
}

fn volume(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes >= VOLUME_BYTES_MIN { Ok(bytes) } else { Err("must be at least 256M".to_owned()) }
}

impl CrashCommand {
    /// Errors have an exit status other than 1, because 1 is an answer of this command.
    pub(crate) fn execute(&self) -> ExitCode {
        failure::of_gate(self.answer())
    }

    fn answer(&self) -> anyhow::Result<ExitCode> {
        let system = self.system()?;
        let has_server = system.installation.entry.family.has_server();
        let kind = match self.kill {
            Kill::Process => CrashKind::Process,
            Kill::Power => CrashKind::Power,
        };
        let defaults = CrashOptions::new(kind, has_server);
        let options = CrashOptions {
            crashes: self.crashes.unwrap_or(defaults.crashes),
            commits: self.commits.unwrap_or(defaults.commits),
            clients: self.clients.unwrap_or(defaults.clients),
            seed: self.seed,
            volume_bytes: self.volume.unwrap_or(defaults.volume_bytes),
            ..defaults
        };
        let stop = interrupt::stop_flag()?;
        let mut teller = Teller { crashes: options.crashes };
        let report = match self.failover(kind, system.installation.entry.family)? {
            Some(failover) => failover_test(&system, &failover, &options, &stop, &mut teller),
            None => crash_test(&system, &options, &stop, &mut teller),
        };
        let report = match report {
            Err(CrashError::Stopped) => return Ok(interrupt::exit_code()),
            report => report?,
        };
        self.print(&report)?;
        Ok(match report.verdict {
            Verdict::Broken => ExitCode::FAILURE,
            _ if stop.load(Ordering::Relaxed) => interrupt::exit_code(),
            _ => ExitCode::SUCCESS,
        })
    }

    /// The replicas that take the place of crashed servers. `None` if no replicas were requested.
    fn failover(&self, kind: CrashKind, family: Family) -> anyhow::Result<Option<Failover>> {
        let Some(replicas) = self.replicas else { return Ok(None) };
        if kind == CrashKind::Power {
            bail!("a failover is tested with killed processes; leave --replicas or --kill power out");
        }
        let replication = self.replication.of(replicas, family)?;
        Ok(Some(Failover { replication, cut_off: Duration::from_millis(self.cut_off_ms) }))
    }

    fn system(&self) -> anyhow::Result<CrashedSystem> {
        let cache = Cache::default_location();
        let storage_engine = self.system.storage_engine()?;
        let installation = install(&self.system.name, &cache)?;
        let product = Product::of(&installation.entry, storage_engine.as_deref())?;
        let changes: BTreeMap<_, _> = self.settings.iter().cloned().collect();
        let Translation { settings, left_out } = match &self.profile {
            Some(profile) => Profile::find(profile)?.translate(&product, &changes)?,
            None => Translation { settings: changes, ..Translation::default() },
        };
        for left in left_out {
            output::tell(&format!("left out: {} ({})", left.name, left.reason));
        }
        Ok(CrashedSystem {
            installation,
            storage_engine,
            settings,
            data_root: cache.runs(),
            sqlite_program: env::current_exe().context("cannot find the program that is running")?,
        })
    }

    fn print(&self, report: &CrashReport) -> anyhow::Result<()> {
        output::print(&match self.format {
            TextOrJson::Text => text::report(report),
            TextOrJson::Json => json_text(report),
        })
    }
}

/// Prints each crash on standard error.
struct Teller {
    crashes: u32,
}

impl Observer for Teller {
    fn checked(&mut self, crash: &Crash) {
        output::tell_lines(&text::crash(crash, self.crashes));
    }
}
