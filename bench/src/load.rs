//! The load generators in turn on one server.

use std::collections::BTreeMap;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use dyno_load::IoMethod;

use crate::child::Sample;
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
}

/// The same load for both sides.
#[derive(Args)]
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

/// Medians of one number over the rounds of one side.
fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    dyno_stats::median(&samples.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&BTreeMap::new())?;
    let access = server.access();
    let shape = &options.shape;
    eprintln!("loading {} tables of {} rows into {}", shape.tables, shape.rows, server.version());
    dyno::measure(&dyno::job(access, shape, "prepare", shape.tables, options.io)?)?;

    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
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
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for round in 0..options.rounds {
            eprintln!("{connections} connections, round {} of {}", round + 1, options.rounds);
            theirs.push(sysbench::measure(access, shape, connections)?);
            ours.push(dyno::measure(&dyno::job(access, shape, "run", connections, options.io)?)?);
        }
        table.add_row(row(connections, &theirs, &ours));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{} on {}, medians of {}", shape.workload, server.version(), options.rounds);
    println!("{table}");
    server.stop()?;
    Ok(())
}

fn row(connections: u32, theirs: &[Sample], ours: &[Sample]) -> Vec<String> {
    let mut cells = vec![connections.to_string()];
    let mut pair = |of: fn(&Sample) -> f64, digits: usize, ratio: bool| {
        let (base, candidate) = (median(theirs, of), median(ours, of));
        cells.push(format!("{base:.digits$}"));
        cells.push(format!("{candidate:.digits$}"));
        if ratio {
            cells.push(format!("{:.2}", candidate / base));
        }
    };
    pair(|sample| sample.queries_per_second, 0, true);
    pair(|sample| sample.latency_p95_ms, 2, false);
    pair(Sample::cpu_us_per_query, 2, true);
    pair(|sample| sample.memory_bytes_max as f64 / 1e6, 1, true);
    cells
}
