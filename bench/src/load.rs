//! The load generators in turn on one server.

use std::collections::BTreeMap;

use clap::Args;
use dyno_engine::Access;
use dyno_load::{IoMethod, Job};

use crate::child::Sample;
use crate::pair::{self, Pair, push_cells};
use crate::{dyno, server, sysbench};

/// What is measured.
#[derive(Args)]
pub(crate) struct Options {
    /// Connections, one row of the table each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64, 512, 2000])]
    connections: Vec<u32>,
    /// Measurements of each side; the table shows medians.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The load itself.
    #[command(flatten)]
    shape: Shape,
    /// How Dyno's event loop moves bytes.
    #[arg(long, default_value = "auto", value_parser = io_method)]
    io: IoMethod,
    /// How many event loops Dyno has; by default it chooses.
    #[arg(long)]
    loops: Option<u32>,
}

/// The same load for both sides.
#[derive(Args, Clone, Debug)]
pub(crate) struct Shape {
    /// A workload that both have.
    #[arg(long, default_value = "oltp_point_select")]
    pub(crate) workload: String,
    /// Tables.
    #[arg(long, default_value_t = 4)]
    pub(crate) tables: u32,
    /// Rows a table.
    #[arg(long, default_value_t = 50_000)]
    pub(crate) rows: u32,
    /// Seconds a measurement.
    #[arg(long, default_value_t = 5)]
    pub(crate) seconds: u32,
}

fn io_method(text: &str) -> Result<IoMethod, String> {
    match text {
        "auto" => Ok(IoMethod::Auto),
        "epoll" => Ok(IoMethod::Epoll),
        "uring" => Ok(IoMethod::Uring),
        _ => Err("auto, epoll or uring".to_owned()),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&BTreeMap::new())?;
    let (access, shape) = (server.access(), &options.shape);
    fill(access, shape)?;
    let mut table = pair::table(&[
        "connections",
        "QPS sysbench",
        "QPS dyno",
        "ratio",
        "p95 ms sysbench",
        "p95 ms dyno",
        "client CPU µs/query sysbench",
        "client CPU µs/query dyno",
        "ratio",
        "memory MB sysbench",
        "memory MB dyno",
        "ratio",
    ]);
    for &connections in &options.connections {
        let pair = measure(access, shape, connections, options.rounds, |job| {
            (job.io, job.loops) = (options.io, options.loops);
        })?;
        let mut cells = vec![connections.to_string()];
        push_cells(&mut cells, pair.medians(|sample| sample.queries_per_second), 0, true);
        push_cells(&mut cells, pair.medians(|sample| sample.latency_p95_ms), 2, false);
        push_cells(&mut cells, pair.medians(Sample::cpu_us_per_query), 2, true);
        push_cells(&mut cells, pair.medians(Sample::memory_mb), 1, true);
        table.add_row(cells);
    }
    let title = format!("{} on {}, medians of {}", shape.workload, server.version(), options.rounds);
    pair::print(&title, table, 0);
    server.stop()?;
    Ok(())
}

/// Makes the tables.
pub(crate) fn fill(access: &Access, shape: &Shape) -> anyhow::Result<()> {
    eprintln!("loading {} tables of {} rows", shape.tables, shape.rows);
    dyno::measure(&dyno::job(access, shape, "prepare", shape.tables)?)?;
    Ok(())
}

/// Measures both sides with so many connections, ours with its job adjusted.
pub(crate) fn measure(
    access: &Access,
    shape: &Shape,
    connections: u32,
    rounds: usize,
    adjust: impl Fn(&mut Job),
) -> anyhow::Result<Pair> {
    Pair::measure(
        &format!("{}, {connections} connections", shape.workload),
        rounds,
        || sysbench::measure(access, shape, connections),
        || {
            let mut job = dyno::job(access, shape, "run", connections)?;
            adjust(&mut job);
            dyno::measure(&job)
        },
    )
}
