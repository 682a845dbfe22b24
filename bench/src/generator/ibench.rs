//! The insert benchmark, run by Dyno and by the program of the benchmark's author in turn on the same server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use dyno_engine::{DATABASE, Server};
use dyno_load::Job;

use crate::support::child::{self, Sample, Session};
use crate::support::goals::{Goals, Limit};
use crate::support::pair::{self, Pair};
use crate::support::{dyno, server};

/// The table that the author's program creates.
const THEIR_TABLE: &str = "purchases_index";
/// The table that Dyno creates.
const OUR_TABLE: &str = "purchases1";

/// The error message if the author's program, the peer, is not given.
const MISSING: &str = "give the path of the peer, iibench.py, with --iibench: it is in bench/ibench of \
    https://github.com/mdcallag/mytools (Apache licence); its Python needs MySQLdb (Debian's python3-mysqldb, or mysqlclient of PyPI). \
    With --alone, Dyno is measured without it";

#[derive(Args)]
pub(crate) struct Options {
    /// The peer: iibench.py of github.com/mdcallag/mytools, in bench/ibench.
    #[arg(long)]
    iibench: Option<PathBuf>,
    /// Measure Dyno without the peer. Such a run has no goals.
    #[arg(long)]
    alone: bool,
    /// The Python that runs the peer.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Systems of the catalogue, measured one after the other.
    #[arg(long, value_delimiter = ',', default_values = ["mariadb@10.11/innodb", "mysql@9.7.4/innodb", "mariadb@10.11/rocksdb"])]
    systems: Vec<String>,
    /// Rows that are loaded.
    #[arg(long, default_value_t = 500_000)]
    rows: u32,
    /// Rows that are inserted after the load. The same number of rows is deleted. A transaction has 50 rows.
    #[arg(long, default_value_t = 100_000)]
    writes: u32,
    /// Number of measurements of each program, each on a new server. If there are at least six, the interval does not
    /// assume that the values are normally distributed.
    #[arg(long, default_value_t = 6)]
    rounds: usize,
}

/// Number of rows in a transaction of the step l.i1.
const ROWS_PER_COMMIT: u32 = 50;

/// A step that is measured. `l.i0`, `l.x` and `l.i1` are the steps' names in the insert benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// l.i0 and l.x: inserts rows in the order of their keys, and then makes the indexes.
    Load,
    /// l.i1: inserts rows at one end of the table, and deletes as many at the other end.
    Write,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Load => "load (l.i0, l.x)",
            Self::Write => "inserts and deletes (l.i1)",
        }
    }

    fn rows(self, options: &Options) -> u32 {
        match self {
            Self::Load => options.rows,
            Self::Write => options.writes,
        }
    }
}

/// The contents of the peer's table or of Dyno's table after a step.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    rows: u64,
    bytes: f64,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    anyhow::ensure!(options.iibench.is_some() || options.alone, MISSING);
    if let Some(path) = &options.iibench {
        anyhow::ensure!(path.is_file(), "there is no {}: {MISSING}", path.display());
    }
    let mut goals = Goals::new(["iibench.py", "dyno"]);
    let mut speeds = Vec::new();
    for system in &options.systems {
        let measured = measure(options, system)?;
        for (step, pair) in &measured.steps {
            let what = |of: &str| format!("{system}, {}, {of}", step.name());
            goals.ratio(&what("client CPU µs/row"), pair, Sample::cpu_us_per_query, Some(Limit::AtMost(0.3)));
            goals.ratio(&what("rows/s"), pair, |sample| sample.queries_per_second, None);
        }
        if let Some((_, written)) = measured.steps.last() {
            speeds.push((system.as_str(), written.medians(|sample| sample.queries_per_second)));
        }
        if let Some([theirs, ours]) = measured.left {
            goals.same(
                &format!("{system}, rows in the end"),
                &theirs.rows.to_string(),
                &ours.rows.to_string(),
            );
        }
        goals.values(
            &format!("{system}, size of table and indexes, ratio"),
            &measured.sizes,
            Some(Limit::Within(0.98, 1.02)),
        );
    }
    if !options.alone {
        goals.same(
            "order of systems by inserts/s",
            &order(&speeds, |both| both.0),
            &order(&speeds, |both| both.1),
        );
    }
    let (rows, writes, rounds) = (options.rows, options.writes, options.rounds);
    goals.print(&format!("insert benchmark, {rows} rows loaded, {writes} written, {rounds} servers"));
    Ok(())
}

/// Returns the names of the systems, the fastest first. Each system has the peer's speed and Dyno's; `of` selects one
/// of the two.
fn order(speeds: &[(&str, (f64, f64))], of: fn((f64, f64)) -> f64) -> String {
    let mut sorted: Vec<_> = speeds.iter().map(|(system, both)| (of(*both), *system)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted.iter().map(|(_, system)| *system).collect::<Vec<_>>().join(", ")
}

/// The measurements of a system.
struct Measured {
    steps: Vec<(Step, Pair)>,
    /// The contents of the peer's table and of Dyno's table after the last round; `None` if there is no peer.
    left: Option<[Left; 2]>,
    /// For each round, the size of Dyno's table after the load, divided by the size of the peer's table.
    sizes: Vec<f64>,
}

fn measure(options: &Options, system: &str) -> anyhow::Result<Measured> {
    let steps = [Step::Load, Step::Write];
    let left = std::cell::Cell::new(None);
    let sizes = std::cell::RefCell::new(Vec::new());
    let start = || {
        let settings: &[(&str, &str)] = if system.ends_with("rocksdb") {
            &[("rocksdb_block_cache_size", "512M"), ("rocksdb_flush_log_at_trx_commit", "2")]
        } else {
            &[("innodb_buffer_pool_size", "1G"), ("innodb_flush_log_at_trx_commit", "2")]
        };
        server::start_engine(system, settings.iter().copied())
    };
    let (pairs, _) = pair::on_new_servers(options.rounds, &steps, start, |server, &step, pair| {
        eprintln!("{system}: {}", step.name());
        let ours = || by_dyno(options, server, system, step);
        match &options.iibench {
            Some(program) => pair.take(|| by_iibench(options, program, server, system, step), ours)?,
            None => pair.take(ours, ours)?,
        }
        if options.iibench.is_some() {
            if system.ends_with("rocksdb") {
                // Without this, the size would depend on how much of the table is compacted already.
                server.query("SET GLOBAL rocksdb_force_flush_memtable_now = ON")?;
                server.query("SET GLOBAL rocksdb_compact_cf = 'default'")?;
            }
            let both = [left_in(server, THEIR_TABLE)?, left_in(server, OUR_TABLE)?];
            if step == Step::Load {
                sizes.borrow_mut().push(both[1].bytes / both[0].bytes);
            }
            left.set(Some(both));
        }
        Ok(())
    })?;
    Ok(Measured {
        steps: steps.into_iter().zip(pairs).collect(),
        left: left.get(),
        sizes: sizes.into_inner(),
    })
}

/// Returns the number of rows in a table, and the bytes of the table and its indexes as the server reports them.
fn left_in(server: &Server, table: &str) -> anyhow::Result<Left> {
    let number = |sql: &str| -> anyhow::Result<f64> {
        let result = server.query(sql)?;
        let text = result.rows.first().and_then(|row| row.first()).and_then(Option::as_deref);
        Ok(text.with_context(|| format!("no answer to {sql}"))?.parse()?)
    };
    server.query(&format!("ANALYZE TABLE {table}"))?;
    let rows = number(&format!("SELECT COUNT(*) FROM {table}"))? as u64;
    let bytes = number(&format!(
        "SELECT data_length + index_length FROM information_schema.tables \
         WHERE table_schema = DATABASE() AND table_name = '{table}'"
    ))?;
    Ok(Left { rows, bytes })
}

fn engine_of(system: &str) -> &str {
    system.split_once('/').map_or("innodb", |(_, engine)| engine)
}

/// Runs a step with the peer. The field `queries` of the returned sample counts rows.
fn by_iibench(
    options: &Options,
    program: &Path,
    server: &Server,
    system: &str,
    step: Step,
) -> anyhow::Result<Sample> {
    let access = server.access();
    let rows = step.rows(options);
    // The peer writes files into its working folder.
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(&options.python);
    command
        .arg(fs::canonicalize(program)?)
        .current_dir(folder.path())
        .args(["--dbms=mysql", "--secs_per_report=1", "--data_length_min=10", "--data_length_max=20"])
        .arg(format!("--db_user={}", access.user))
        .arg(format!("--db_password={}", access.password))
        .arg(format!("--db_socket={}", access.socket.display()))
        .arg(format!("--db_name={DATABASE}"))
        .arg(format!("--table_name={THEIR_TABLE}"))
        .arg(format!("--engine={}", engine_of(system)))
        .arg(format!("--max_rows={rows}"))
        .stdout(Stdio::null());
    match step {
        Step::Load => command.args(["--setup", "--secondary_at_end", "--rows_per_commit=1000"]),
        Step::Write => command.arg("--delete_per_insert").arg(format!("--rows_per_commit={ROWS_PER_COMMIT}")),
    };
    let began = Instant::now();
    let child = child::spawn(&mut command, Session::Servers)
        .with_context(|| format!("cannot start {}", options.python.display()))?;
    let (cpu_us, memory_bytes_max) =
        child::wait(&child).with_context(|| format!("{} failed; {MISSING}", program.display()))?;
    Ok(sample(rows, began.elapsed().as_secs_f64(), cpu_us, memory_bytes_max))
}

/// Runs a step with Dyno. The step `Load` first removes Dyno's table.
fn by_dyno(options: &Options, server: &Server, system: &str, step: Step) -> anyhow::Result<Sample> {
    let (table_size, rows_per_commit) = (options.rows.to_string(), ROWS_PER_COMMIT.to_string());
    let rows = step.rows(options);
    let common = [
        ("table_size", table_size.as_str()),
        ("rows_per_commit", rows_per_commit.as_str()),
        ("mysql_storage_engine", engine_of(system)),
        ("create_secondary", "on"),
    ];
    let job = |command: &str| dyno::builtin(server.access(), "ibench", command, &common);
    let job = match step {
        Step::Load => job("prepare")?,
        Step::Write => Job { events: Some(u64::from(rows / ROWS_PER_COMMIT)), ..job("run")? },
    };
    if step == Step::Load {
        dyno::run(&dyno::builtin(server.access(), "ibench", "cleanup", &[])?, Session::Servers)?;
    }
    let began = Instant::now();
    let (_, cpu_us, memory_bytes_max) = dyno::run(&job, Session::Servers)?;
    Ok(sample(rows, began.elapsed().as_secs_f64(), cpu_us, memory_bytes_max))
}

fn sample(rows: u32, seconds: f64, cpu_us: u64, memory_bytes_max: u64) -> Sample {
    Sample {
        queries: rows.into(),
        queries_per_second: f64::from(rows) / seconds,
        latency_p99_ms: 0.0,
        cpu_us,
        server_us: 0,
        memory_bytes_max,
    }
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn systems_are_ordered_by_their_speed() {
        let speeds = [("a", (1.0, 9.0)), ("b", (2.0, 3.0)), ("c", (3.0, 1.0))];
        assert_eq!(order(&speeds, |both| both.0), "c, b, a");
        assert_eq!(order(&speeds, |both| both.1), "a, b, c");
    }
}
