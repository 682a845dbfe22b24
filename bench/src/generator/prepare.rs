//! Compares how many rows per second Dyno and sysbench load into new tables. The two programs take turns.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use dyno_engine::Access;

use crate::support::child::{Sample, Session};
use crate::support::pair::{self, Pair};
use crate::support::shape::Shape;
use crate::support::{dyno, server, sysbench};

#[derive(Args)]
pub(crate) struct Options {
    /// Numbers of tables. Each number is one row of the report. There is one connection for each table, but at most
    /// `connections` of them.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    tables: Vec<u32>,
    /// Rows per table.
    #[arg(long, default_value_t = 100_000)]
    rows: u32,
    /// Largest number of connections.
    #[arg(long, default_value_t = 8)]
    connections: u32,
    /// Number of measurements of each program, each on a new server. The table shows medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// Commits do not wait for the log, so that the client's share of the time is visible.
pub(crate) const SETTINGS: [(&str, &str); 1] = [("innodb_flush_log_at_trx_commit", "2")];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (rows, rounds) = (options.rows, options.rounds);
    let cases: Vec<_> = options
        .tables
        .iter()
        .map(|&tables| Case { tables, connections: tables.min(options.connections) })
        .collect();
    let (pairs, version) = measure(&cases, rows, rounds)?;
    let mut table = pair::table(&[
        "tables",
        "connections",
        "rows/s sysbench",
        "rows/s dyno",
        "ratio",
        "client CPU µs/row sysbench",
        "client CPU µs/row dyno",
        "ratio",
        "server CPU µs/row sysbench",
        "server CPU µs/row dyno",
    ]);
    for (case, pair) in cases.iter().zip(&pairs) {
        let mut cells = vec![case.tables.to_string(), case.connections.to_string()];
        pair.push_cells(&mut cells, |sample| sample.queries_per_second, 0, true);
        pair.push_cells(&mut cells, Sample::cpu_us_per_query, 2, true);
        pair.push_cells(&mut cells, Sample::server_us_per_query, 2, false);
        table.add_row(cells);
    }
    let title = format!("prepare, {rows} rows a table, on {version}, medians of {rounds} servers");
    pair::print(&title, table, 0);
    Ok(())
}

/// How many tables are loaded, over how many connections.
pub(crate) struct Case {
    pub(crate) tables: u32,
    pub(crate) connections: u32,
}

/// Measures Dyno and sysbench. The field `queries` of a sample counts rows.
pub(crate) fn measure(cases: &[Case], rows: u32, rounds: usize) -> anyhow::Result<(Vec<Pair>, String)> {
    let start = || server::start(&BTreeMap::from(SETTINGS));
    pair::on_new_servers(rounds, cases, start, |server, &Case { tables, connections }, pair| {
        eprintln!("loading {tables} tables over {connections} connections");
        let access = server.access();
        let shape =
            Shape { workload: "oltp_read_write".to_owned(), tables, rows, seconds: 0, unprepared: false };
        let theirs = || {
            timed(access, &shape, || {
                let (_, cpu_us, memory) =
                    sysbench::command(access, &shape, "prepare", connections, Session::Servers)?;
                Ok((cpu_us, memory))
            })
        };
        let ours = || {
            timed(access, &shape, || {
                let sample =
                    dyno::measure(&dyno::job(access, &shape, "prepare", connections)?, Session::Servers)?;
                Ok((sample.cpu_us, sample.memory_bytes_max))
            })
        };
        pair.take(theirs, ours)
    })
}

/// Takes a sample of `load`, which loads the tables and returns its CPU time (µs) and memory (bytes). Then drops
/// the tables.
fn timed(
    access: &Access,
    shape: &Shape,
    load: impl Fn() -> anyhow::Result<(u64, u64)>,
) -> anyhow::Result<Sample> {
    let (began, server_us) = (Instant::now(), server::cpu_us(access)?);
    let (cpu_us, memory_bytes_max) = load()?;
    let seconds = began.elapsed().as_secs_f64();
    let server_us = server::cpu_us(access)? - server_us;
    dyno::measure(&dyno::job(access, shape, "cleanup", 1)?, Session::Servers)?;
    let queries = u64::from(shape.tables) * u64::from(shape.rows);
    let queries_per_second = queries as f64 / seconds;
    Ok(Sample { queries, queries_per_second, latency_p99_ms: 0.0, cpu_us, server_us, memory_bytes_max })
}
