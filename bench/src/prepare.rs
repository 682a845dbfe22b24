//! Loading tables: both sides in turn, rows a second.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use dyno_engine::Access;

use crate::child::Sample;
use crate::load::Shape;
use crate::pair::{self, Pair, push_cells};
use crate::{dyno, server, sysbench};

/// What is loaded.
#[derive(Args)]
pub(crate) struct Options {
    /// Tables, one row of the report each; as many connections load them, at most.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    tables: Vec<u32>,
    /// Rows a table.
    #[arg(long, default_value_t = 100_000)]
    rows: u32,
    /// Connections at most.
    #[arg(long, default_value_t = 8)]
    connections: u32,
    /// Measurements of each side; the table shows medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// A log that is not waited for at each commit, so that the client's part shows.
pub(crate) const SETTINGS: [(&str, &str); 1] = [("innodb_flush_log_at_trx_commit", "2")];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&BTreeMap::from(SETTINGS))?;
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
    for &tables in &options.tables {
        let connections = tables.min(options.connections);
        let pair = measure(server.access(), tables, options.rows, connections, options.rounds)?;
        let mut cells = vec![tables.to_string(), connections.to_string()];
        push_cells(&mut cells, pair.medians(|sample| sample.queries_per_second), 0, true);
        push_cells(&mut cells, pair.medians(Sample::cpu_us_per_query), 2, true);
        push_cells(&mut cells, pair.medians(Sample::server_us_per_query), 2, false);
        table.add_row(cells);
    }
    let (rows, rounds) = (options.rows, options.rounds);
    let title = format!("prepare, {rows} rows a table, on {}, medians of {rounds}", server.version());
    pair::print(&title, table, 0);
    server.stop()?;
    Ok(())
}

/// Measures both sides; a sample's queries are rows.
pub(crate) fn measure(
    access: &Access,
    tables: u32,
    rows: u32,
    connections: u32,
    rounds: usize,
) -> anyhow::Result<Pair> {
    let shape = Shape { workload: "oltp_read_write".to_owned(), tables, rows, seconds: 0 };
    let cleanup = || dyno::measure(&dyno::job(access, &shape, "cleanup", 1)?);
    let timed = |load: &dyn Fn() -> anyhow::Result<(u64, u64)>| -> anyhow::Result<Sample> {
        let (began, server_us) = (Instant::now(), server::cpu_us(access)?);
        let (cpu_us, memory_bytes_max) = load()?;
        let seconds = began.elapsed().as_secs_f64();
        let server_us = server::cpu_us(access)? - server_us;
        cleanup()?;
        let queries = u64::from(tables) * u64::from(rows);
        let queries_per_second = queries as f64 / seconds;
        Ok(Sample { queries, queries_per_second, latency_p95_ms: 0.0, cpu_us, server_us, memory_bytes_max })
    };
    Pair::measure(
        &format!("loading {tables} tables over {connections} connections"),
        rounds,
        || {
            timed(&|| {
                let (_, cpu_us, memory) = sysbench::command(access, &shape, "prepare", connections)?;
                Ok((cpu_us, memory))
            })
        },
        || {
            timed(&|| {
                let job = dyno::job(access, &shape, "prepare", connections)?;
                let sample = dyno::measure(&job)?;
                Ok((sample.cpu_us, sample.memory_bytes_max))
            })
        },
    )
}
