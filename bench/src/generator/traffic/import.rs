//! Importing logs: how many bytes per second of CPU time, and how much memory.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, ensure};
use dyno_traffic::Options;

use super::logs::Kind;
use crate::support::child::{self, Session};
use crate::support::pair;

/// The argument with which the benchmark starts itself as a child process that imports a log.
pub(crate) const IMPORT: &str = "import-log";

/// Goal: smallest amount of log, in MB, that must be imported per second of CPU time.
const MB_PER_SECOND_MIN: f64 = 300.0;
/// Goal: largest memory of an import, in MB.
const MEMORY_MB_MAX: f64 = 200.0;

pub(super) fn run(megabytes: u64, rounds: usize) -> anyhow::Result<()> {
    let mut table = pair::table(&[
        "log",
        "MB",
        "statements",
        "MB per CPU second",
        "slowest",
        "goal",
        "met",
        "memory MB",
        "goal",
        "met",
    ]);
    let folder = tempfile::tempdir()?;
    for kind in [Kind::Slow, Kind::Csvlog, Kind::Varied] {
        let (log, out) = (folder.path().join("server.log"), folder.path().join("a.traffic"));
        eprintln!("writing a {}", kind.text());
        let statements = kind.write(&log, megabytes * 1_000_000)?;
        let bytes = log.metadata()?.len();
        let (mut rates, mut memory_mb) = (Vec::new(), 0_f64);
        for round in 1..=rounds {
            eprintln!("round {round} of {rounds}");
            let (cpu_us, memory_bytes_max, imported) = import(&log, &out)?;
            ensure!(imported == statements, "{imported} of {statements} statements were imported");
            rates.push(bytes as f64 / cpu_us.max(1) as f64);
            memory_mb = memory_mb.max(memory_bytes_max as f64 / 1e6);
        }
        let (rate, slowest) = (
            dyno_stats::median(&rates).unwrap_or(f64::NAN),
            rates.iter().copied().fold(f64::INFINITY, f64::min),
        );
        let met = |is_met: bool| if is_met { "yes" } else { "no" }.to_owned();
        table.add_row([
            kind.text().to_owned(),
            format!("{:.0}", bytes as f64 / 1e6),
            statements.to_string(),
            format!("{rate:.0}"),
            format!("{slowest:.0}"),
            format!("≥ {MB_PER_SECOND_MIN}"),
            met(slowest >= MB_PER_SECOND_MIN),
            format!("{memory_mb:.0}"),
            format!("< {MEMORY_MB_MAX}"),
            met(memory_mb < MEMORY_MB_MAX),
        ]);
    }
    pair::print(&format!("importing logs, medians of {rounds}"), table, 1);
    Ok(())
}

/// Imports a log in a separate process. Returns its CPU time (µs), its memory (bytes) and the number of statements.
fn import(log: &std::path::Path, out: &std::path::Path) -> anyhow::Result<(u64, u64, u64)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(IMPORT).args([log, out]).stdout(Stdio::piped());
    let mut child = child::spawn(&mut command, Session::Own)?;
    let output = child.stdout.take().context("the import has no output")?;
    let statements = std::io::read_to_string(output)?.trim().parse();
    let (cpu_us, memory_bytes_max) = child::wait(&child)?;
    Ok((cpu_us, memory_bytes_max, statements?))
}

/// Imports a log and prints the number of its statements. [`run`] measures this in a child process.
pub(crate) fn import_log(arguments: &[PathBuf]) -> anyhow::Result<()> {
    let [log, out] = arguments else { anyhow::bail!("needs a log and a traffic file") };
    let stop = AtomicBool::new(false);
    let options =
        Options { out, overwrite: true, format: None, redact: false, keep_users: false, stop: &stop };
    let imported = dyno_traffic::import(std::slice::from_ref(log), &options, &mut |_| ())?;
    println!("{}", imported.statements);
    Ok(())
}
