//! Failovers whose losses are planted: for a known time before the primary is killed, its replicas receive nothing.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- failovers
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use dyno_crash::{
    Crash, CrashOptions, CrashReport, CrashedSystem, Failover, Observer, Verdict, failover_test,
};
use dyno_engine::{Cache, Catalogue, Replication, ReplicationMode, SystemName, fetch};
use dyno_settings::CrashKind;

use crate::support::pair;

#[derive(Args)]
pub(crate) struct Options {
    /// Failovers of each system in each mode.
    #[arg(long, default_value_t = 100)]
    failovers: u32,
    /// How long before each crash the replicas stop receiving commits, in ms.
    #[arg(long, default_value_t = 100)]
    cut_off_ms: u64,
    /// Acknowledged commits before replicas stop receiving.
    #[arg(long, default_value_t = 300)]
    commits: u64,
    /// Systems of the catalogue, measured one after the other.
    #[arg(long, num_args = 1.., default_values = ["mariadb@10.11", "postgres@18.4"])]
    systems: Vec<SystemName>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let headings = [
        "system",
        "replication",
        "failovers",
        "with losses",
        "acknowledged",
        "lost",
        "oldest lost, ms",
        "torn",
        "resurrected",
        "longest without writes, s",
        "goal",
        "met",
    ];
    let mut table = pair::table(&headings);
    for name in &options.systems {
        for mode in modes(name) {
            let report = fail_over(options, name, mode)?;
            table.add_row(row(&report, mode));
        }
    }
    println!(
        "Failovers to one of two replicas, cut off {} ms before each crash\n{table}",
        options.cut_off_ms
    );
    Ok(())
}

fn modes(name: &SystemName) -> Vec<ReplicationMode> {
    let mut modes = vec![ReplicationMode::Asynchronous, ReplicationMode::SemiSynchronous];
    if name.engine == "mariadb" && name.storage_engine.is_none() {
        modes.push(ReplicationMode::Galera);
    }
    modes
}

fn fail_over(options: &Options, name: &SystemName, mode: ReplicationMode) -> anyhow::Result<CrashReport> {
    let cache = Cache::default_location();
    let system = CrashedSystem {
        installation: fetch(&Catalogue::builtin().find(name)?, &cache, &mut |_| {})?,
        storage_engine: name.storage_engine.clone(),
        settings: BTreeMap::new(),
        data_root: cache.runs(),
        sqlite_program: std::env::current_exe()?,
    };
    let failover = Failover {
        replication: Replication { mode, replicas: 2, delay_seconds: 0 },
        cut_off: Duration::from_millis(options.cut_off_ms),
    };
    let how = CrashOptions {
        crashes: options.failovers,
        commits: options.commits,
        ..CrashOptions::new(CrashKind::Process, true)
    };
    let mut progress = Progress { what: format!("{name}, {}", mode.as_str()), of: options.failovers };
    Ok(failover_test(&system, &failover, &how, &AtomicBool::new(false), &mut progress)?)
}

/// Prints each failover.
struct Progress {
    what: String,
    of: u32,
}

impl Observer for Progress {
    fn checked(&mut self, crash: &Crash) {
        eprintln!("{}: {} of {}, {} lost", self.what, crash.number, self.of, crash.losses.lost);
    }
}

/// Makes a table row. The goal depends on the mode. If commits do not wait for replicas, every failover must lose
/// commits. If they wait, no failover may lose any.
fn row(report: &CrashReport, mode: ReplicationMode) -> Vec<String> {
    let with_losses = report.crashes.iter().filter(|crash| crash.losses.lost > 0).count();
    let (goal, is_met) = match mode {
        ReplicationMode::Asynchronous => ("losses in all", with_losses == report.crashes.len()),
        _ => ("no loss", with_losses == 0),
    };
    let is_whole = report.losses.torn + report.losses.resurrected == 0 && report.verdict != Verdict::Broken;
    vec![
        report.system.clone(),
        mode.as_str().to_owned(),
        report.crashes.len().to_string(),
        with_losses.to_string(),
        report.acknowledged.to_string(),
        report.losses.lost.to_string(),
        report.losses.lost_age_ms_max.map_or("–".to_owned(), |ms| format!("{ms:.0}")),
        report.losses.torn.to_string(),
        report.losses.resurrected.to_string(),
        report.recovery_ms_max.map_or("–".to_owned(), |ms| format!("{:.1}", ms / 1e3)),
        goal.to_owned(),
        if is_met && is_whole { "yes" } else { "no" }.to_owned(),
    ]
}
