//! Compares Dyno with `pgbench -S -M prepared`, with the same statement on the same table.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context;
use clap::Args;
use dyno_engine::{Access, DATABASE};
use dyno_load::{Address, Job, Protocol, Script, Target};

use crate::child::{self, Sample, Session};
use crate::pair::{self, Pair};
use crate::{dyno, server};

/// Rows of `pgbench_accounts` per unit of scale.
const ROWS_A_SCALE: u32 = 100_000;

#[derive(Args)]
pub(crate) struct Options {
    /// The pgbench program. Its version must support PostgreSQL 18.
    #[arg(long, default_value = "pgbench")]
    pub(crate) pgbench: PathBuf,
    /// Connections.
    #[arg(long, default_value_t = 64)]
    pub(crate) connections: u32,
    /// Threads of pgbench. Dyno chooses its own number.
    #[arg(long, default_value_t = 1)]
    pub(crate) jobs: u32,
    /// Size of the tables, in pgbench's units of 100,000 rows.
    #[arg(long, default_value_t = 4)]
    pub(crate) scale: u32,
    /// Measurements of each side, each on a new server. The table shows medians.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u32,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (pair, version) = measure(options)?;
    let mut table = pair::table(&[
        "connections",
        "TPS pgbench",
        "TPS dyno",
        "ratio",
        "client CPU µs/transaction pgbench",
        "client CPU µs/transaction dyno",
        "ratio",
        "memory MB pgbench",
        "memory MB dyno",
        "ratio",
    ]);
    let mut cells = vec![options.connections.to_string()];
    pair.push_cells(&mut cells, |sample| sample.queries_per_second, 0, true);
    pair.push_cells(&mut cells, Sample::cpu_us_per_query, 2, true);
    pair.push_cells(&mut cells, Sample::memory_mb, 1, true);
    table.add_row(cells);
    let title =
        format!("pgbench -S -M prepared on PostgreSQL {version}, medians of {} servers", options.rounds);
    pair::print(&title, table, 0);
    Ok(())
}

/// Measures both sides. Also returns the servers' version.
pub(crate) fn measure(options: &Options) -> anyhow::Result<(Pair, String)> {
    let start = || {
        let server = server::start_postgres()?;
        eprintln!("loading pgbench's tables at scale {}", options.scale);
        pgbench(options, server.access(), &["-i", "-q", "-s", &options.scale.to_string()])?;
        Ok(server)
    };
    let (pairs, version) =
        pair::on_new_servers(options.rounds, &[options.connections], start, |server, connections, pair| {
            eprintln!("pgbench -S, {connections} connections");
            let access = server.access();
            pair.take(|| sample(options, access), || dyno::measure(&job(options, access), Session::Servers))
        })?;
    Ok((pairs.into_iter().next().unwrap_or_default(), version))
}

/// The load of the goals.
pub(crate) fn goal() -> Options {
    Options { pgbench: "pgbench".into(), connections: 64, jobs: 1, scale: 4, rounds: 5, seconds: 5 }
}

/// Dyno's job.
fn job(options: &Options, access: &Access) -> Job {
    let target = Target {
        user: access.user.clone(),
        password: access.password.clone(),
        database: DATABASE.to_owned(),
        ..Target::new(Protocol::Pgsql, vec![Address::Unix(access.socket.clone())])
    };
    let source = include_str!("select_only.lua").to_owned();
    let script = Script { name: "select_only.lua".to_owned(), source, search_path: Vec::new() };
    Job {
        options: [("rows".to_owned(), (options.scale * ROWS_A_SCALE).to_string())].into(),
        connections: options.connections,
        seconds: Some(f64::from(options.seconds)),
        seed: 1,
        ..Job::new(target, script, "run")
    }
}

/// Measures pgbench.
fn sample(options: &Options, access: &Access) -> anyhow::Result<Sample> {
    let (connections, jobs) = (options.connections.to_string(), options.jobs.to_string());
    let seconds = options.seconds.to_string();
    let arguments = ["-S", "-n", "-M", "prepared", "-c", &connections, "-j", &jobs, "-T", &seconds];
    let (text, cpu_us, memory_bytes_max) = pgbench(options, access, &arguments)?;
    let (queries, queries_per_second) = transactions(&text).with_context(|| format!("no tps in:\n{text}"))?;
    Ok(Sample { queries, queries_per_second, latency_p99_ms: 0.0, cpu_us, server_us: 0, memory_bytes_max })
}

/// Runs pgbench. Returns its output, its CPU time (µs) and its memory (bytes).
fn pgbench(options: &Options, access: &Access, arguments: &[&str]) -> anyhow::Result<(String, u64, u64)> {
    let folder = access.socket.parent().context("the server's socket is in no folder")?;
    let program = &options.pgbench;
    let mut command = Command::new(program);
    command
        .arg("-h")
        .arg(folder)
        .args(["-p", &access.port.to_string(), "-U", &access.user])
        .args(arguments)
        .arg(DATABASE)
        .env("PGPASSWORD", &access.password)
        .stdout(Stdio::piped());
    let mut child = child::spawn(&mut command, Session::Servers)
        .with_context(|| {
            let program = program.display();
            format!("cannot start {program}; `apt-get install postgresql-contrib` brings it, or give its path with --pgbench")
        })?;
    let mut text = String::new();
    child.stdout.take().context("pgbench has no output")?.read_to_string(&mut text)?;
    let (cpu_us, memory_bytes_max) = child::wait(&child)?;
    Ok((text, cpu_us, memory_bytes_max))
}

/// Parses the lines `number of transactions actually processed: 1234` and `tps = 567.89 (without …)`.
fn transactions(text: &str) -> Option<(u64, f64)> {
    let after = |label: &str| text.lines().find_map(|line| line.trim().strip_prefix(label));
    let count = after("number of transactions actually processed:")?;
    let rate = after("tps =")?;
    Some((count.split('/').next()?.trim().parse().ok()?, rate.split_whitespace().next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::transactions;

    #[test]
    fn pgbench_s_report_is_read() {
        let report = "number of transactions actually processed: 45045\nnumber of failed transactions: 0 (0.000%)\n\
                      latency average = 1.4 ms\ntps = 45068.270 (without initial connection time)\n";
        assert_eq!(transactions(report), Some((45_045, 45_068.270)));
        assert_eq!(transactions("tps = 1"), None);
    }
}
