//! Compares Dyno with pgbench. Both run pgbench's own scripts. In addition, `pgbench -S -M prepared` is compared
//! with a script of Dyno that sends the same statement to the same table.

mod scripts;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context;
use clap::Args;
use dyno_engine::{Access, DATABASE, Server};
use dyno_load::{Job, Script};

use crate::support::child::{self, Sample, Session};
use crate::support::goals::{Goals, Limit};
use crate::support::pair::{self, Pair};
use crate::support::{dyno, server};

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
    /// Number of measurements of each program, each on a new server. The table shows medians.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u32,
    /// Protocols, one after the other: simple, extended, prepared.
    #[arg(long, value_delimiter = ',', default_values = ["simple", "prepared"])]
    pub(crate) protocols: Vec<String>,
    /// Further scripts beside pgbench's built-in ones: files that need no shell, such as those of PostgreSQL's own
    /// regression tests of pgbench. The scripts may use pgbench's tables.
    #[arg(long, value_delimiter = ',')]
    pub(crate) scripts: Vec<PathBuf>,
    /// Number of transactions that each program executes. Then the contents of the tables, and the numbers of
    /// statements that were sent, are compared.
    #[arg(long, default_value_t = 500)]
    pub(crate) transactions: u32,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut goals = Goals::new(["pgbench", "dyno"]);
    let scripts = scripts::all(options)?;
    scripts::compare(options, &scripts, &mut goals)?;
    scripts::measure(options, &scripts, &mut goals)?;
    let (pair, version) = measure(options)?;
    figures(&mut goals, "-S -M prepared, in Lua", &pair);
    let (connections, rounds) = (options.connections, options.rounds);
    goals.print(&format!(
        "pgbench's scripts on PostgreSQL {version}, {connections} connections, {rounds} servers"
    ));
    Ok(())
}

/// Adds the figures of one measurement, and their goals, to the table.
fn figures(goals: &mut Goals, what: &str, pair: &Pair) {
    goals.ratio(&format!("{what}, TPS"), pair, |sample| sample.queries_per_second, Some(Limit::AtLeast(1.0)));
    let cpu = format!("{what}, client CPU µs/transaction");
    goals.ratio(&cpu, pair, Sample::cpu_us_per_query, Some(Limit::AtMost(0.6)));
    goals.ratio(&format!("{what}, client memory MB"), pair, Sample::memory_mb, None);
}

/// Measures `pgbench -S -M prepared`, and Dyno with a Lua script that sends the same statements. Also returns the
/// server's version.
pub(crate) fn measure(options: &Options) -> anyhow::Result<(Pair, String)> {
    let start = || start(options);
    let (pairs, version) =
        pair::on_new_servers(options.rounds, &[options.connections], start, |server, connections, pair| {
            eprintln!("pgbench -S, {connections} connections");
            let access = server.access();
            pair.take(|| sample(options, access), || dyno::measure(&job(options, access), Session::Servers))
        })?;
    Ok((pairs.into_iter().next().unwrap_or_default(), version))
}

/// Starts a new server and makes pgbench's tables.
fn start(options: &Options) -> anyhow::Result<Server> {
    let server = server::start_postgres()?;
    eprintln!("loading pgbench's tables at scale {}", options.scale);
    pgbench(options, server.access(), &["-i", "-q", "-s", &options.scale.to_string()])?;
    Ok(server)
}

/// The load for which goals are set.
pub(crate) fn goal() -> Options {
    Options {
        pgbench: "pgbench".into(),
        connections: 64,
        jobs: 1,
        scale: 4,
        rounds: 5,
        seconds: 5,
        protocols: Vec::new(),
        scripts: Vec::new(),
        transactions: 0,
    }
}

/// Returns Dyno's job.
fn job(options: &Options, access: &Access) -> Job {
    let source = include_str!("select_only.lua").to_owned();
    let script = Script { name: "select_only.lua".to_owned(), source, search_path: Vec::new() };
    Job {
        options: [("rows".to_owned(), (options.scale * ROWS_A_SCALE).to_string())].into(),
        connections: options.connections,
        seconds: Some(f64::from(options.seconds)),
        seed: 1,
        ..Job::new(dyno::target(access), script, "run")
    }
}

/// Measures `pgbench -S`.
fn sample(options: &Options, access: &Access) -> anyhow::Result<Sample> {
    let (connections, jobs) = (options.connections.to_string(), options.jobs.to_string());
    let seconds = options.seconds.to_string();
    let arguments = ["-S", "-n", "-M", "prepared", "-c", &connections, "-j", &jobs, "-T", &seconds];
    sample_of(options, access, &arguments)
}

/// Measures pgbench with these arguments.
fn sample_of(options: &Options, access: &Access, arguments: &[&str]) -> anyhow::Result<Sample> {
    let (text, cpu_us, memory_bytes_max) = pgbench(options, access, arguments)?;
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
