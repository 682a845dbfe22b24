//! Loading tables: both sides in turn, rows a second.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use dyno_load::IoMethod;

use crate::load::Shape;
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

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&BTreeMap::from([("innodb_flush_log_at_trx_commit", "2")]))?;
    let access = server.access();
    let mut report = Table::new();
    report.load_style(presets::ASCII_MARKDOWN);
    report.set_header(["tables", "connections", "rows/s sysbench", "rows/s dyno", "ratio"]);
    for &tables in &options.tables {
        let connections = tables.min(options.connections);
        let shape = Shape { workload: "oltp_read_write".to_owned(), tables, rows: options.rows, seconds: 0 };
        let rows = f64::from(tables) * f64::from(options.rows);
        let cleanup = || dyno::measure(&dyno::job(access, &shape, "cleanup", 1, IoMethod::Auto)?);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for round in 0..options.rounds {
            eprintln!("{tables} tables, round {} of {}", round + 1, options.rounds);
            let began = Instant::now();
            sysbench::command(access, &shape, "prepare", connections)?;
            theirs.push(rows / began.elapsed().as_secs_f64());
            cleanup()?;
            let began = Instant::now();
            dyno::measure(&dyno::job(access, &shape, "prepare", connections, IoMethod::Auto)?)?;
            ours.push(rows / began.elapsed().as_secs_f64());
            cleanup()?;
        }
        let median = |rates: &[f64]| dyno_stats::median(rates).unwrap_or(f64::NAN);
        let (base, candidate) = (median(&theirs), median(&ours));
        report.add_row([
            tables.to_string(),
            connections.to_string(),
            format!("{base:.0}"),
            format!("{candidate:.0}"),
            format!("{:.2}", candidate / base),
        ]);
    }
    for column in report.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "prepare, {} rows a table, on {}, medians of {}",
        options.rows,
        server.version(),
        options.rounds
    );
    println!("{report}");
    server.stop()?;
    Ok(())
}
