//! Debian's sysbench, found through `PATH`.

use std::io::Read;
use std::process::{Command, Stdio};

use anyhow::Context;
use dyno_engine::Access;

use crate::support::child::{self, Sample, Session};
use crate::support::shape::Shape;

/// Whether sysbench is installed.
pub(crate) fn is_installed() -> bool {
    let version = Command::new("sysbench").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Runs a workload for its configured time.
pub(crate) fn measure(
    access: &Access,
    shape: &Shape,
    connections: u32,
    session: Session,
) -> anyhow::Result<Sample> {
    let (text, cpu_us, memory_bytes_max) = command(access, shape, "run", connections, session)?;
    let (queries, queries_per_second) =
        queries(&text).with_context(|| format!("no query count in:\n{text}"))?;
    let latency_p99_ms =
        number_after(&text, "99th percentile:").context("no percentile in sysbench's output")?;
    Ok(Sample { queries, queries_per_second, latency_p99_ms, cpu_us, server_us: 0, memory_bytes_max })
}

/// Runs one of a workload's commands. Returns its output, its CPU time (µs) and its memory (bytes).
pub(crate) fn command(
    access: &Access,
    shape: &Shape,
    command: &str,
    connections: u32,
    session: Session,
) -> anyhow::Result<(String, u64, u64)> {
    let mut sysbench = Command::new("sysbench");
    sysbench
        .arg(&shape.workload)
        .arg(format!("--mysql-socket={}", access.socket.display()))
        .arg(format!("--mysql-user={}", access.user))
        .arg(format!("--mysql-password={}", access.password))
        .args(["--mysql-db=sbtest", "--rand-type=uniform", "--percentile=99"])
        .arg(format!("--db-ps-mode={}", if shape.unprepared { "disable" } else { "auto" }))
        .arg(format!("--tables={}", shape.tables))
        .arg(format!("--table-size={}", shape.rows))
        .arg(format!("--threads={connections}"))
        .arg(format!("--time={}", shape.seconds))
        .arg(command)
        .stdout(Stdio::piped());
    let mut child = child::spawn(&mut sysbench, session)
        .context("cannot start sysbench; `apt-get install sysbench` brings it")?;
    let mut text = String::new();
    child.stdout.take().context("sysbench has no output")?.read_to_string(&mut text)?;
    let (cpu_us, memory_bytes_max) = child::wait(&child)?;
    Ok((text, cpu_us, memory_bytes_max))
}

/// Parses the line `queries: 1234 (567.89 per sec.)`.
fn queries(text: &str) -> Option<(u64, f64)> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("queries:"))?;
    let (count, rate) = line.split_once('(')?;
    Some((count.trim().parse().ok()?, rate.split_whitespace().next()?.parse().ok()?))
}

fn number_after(text: &str, label: &str) -> Option<f64> {
    text.lines().find_map(|line| line.trim().strip_prefix(label))?.trim().parse().ok()
}
