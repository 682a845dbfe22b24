//! What it costs to read a server's counters while connections are open: CPU time of the server and of the reader.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use dyno_engine::{Counters, Depth, Family};
use dyno_host::Process;

use crate::support::server;

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Args)]
pub(crate) struct Options {
    /// Open connections. The server adds up the counters of each.
    #[arg(long, default_value_t = 64)]
    connections: u32,
    /// Readings of each kind.
    #[arg(long, default_value_t = 200)]
    readings: u32,
}

/// CPU time of one reading in µs.
struct Cost {
    reader_us: f64,
    server_us: f64,
    elapsed_us: f64,
    numbers: usize,
}

/// Measures the readings that a run makes each second, and those at the start and the end of a trial. The connections
/// are idle, because on a busy server the cost of one reading per second would be lost in the noise.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let server = server::start(&BTreeMap::new())?;
    let mut open = Vec::new();
    for _ in 0..options.connections {
        let mut client = server.connect(PATIENCE)?;
        client.query("SELECT 1")?;
        open.push(client);
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "reading",
        "numbers",
        "ms elapsed",
        "ms CPU reader",
        "ms CPU server",
        "% of a core, one a second",
    ]);
    for (name, depth) in [("each second", Depth::Light), ("a trial's ends", Depth::Full)] {
        let mut counters = Counters::connect(Family::Mariadb, server.access(), PATIENCE)?;
        let cost = measure(&mut counters, depth, options.readings, server.access().pid)?;
        let ms = |us: f64| format!("{:.3}", us / 1000.0);
        table.add_row([
            name.to_owned(),
            cost.numbers.to_string(),
            ms(cost.elapsed_us),
            ms(cost.reader_us),
            ms(cost.server_us),
            // One reading per second uses this share of a core, in percent: µs / 1,000,000 × 100.
            format!("{:.2}", (cost.reader_us + cost.server_us) / 10_000.0),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "{}, {} connections, means of {} readings",
        server.version(),
        options.connections,
        options.readings
    );
    println!("{table}");
    drop(open);
    server.stop()?;
    Ok(())
}

fn measure(counters: &mut Counters, depth: Depth, readings: u32, server_pid: u32) -> anyhow::Result<Cost> {
    // The first reading is not measured, because it also determines the order of the names.
    counters.read(depth)?;
    let (mut reader, mut server) = (Process::open(std::process::id())?, Process::open(server_pid)?);
    let (reader_before, server_before) = (reader.sample()?, server.sample()?);
    let began = Instant::now();
    let mut numbers = 0;
    for _ in 0..readings {
        numbers = counters.read(depth)?.values().count();
    }
    let elapsed_us = began.elapsed().as_secs_f64() * 1e6 / f64::from(readings);
    let (reader, server) = (reader.sample()?.since(&reader_before), server.sample()?.since(&server_before));
    let mean = |usage: &dyno_host::ProcessUsage| {
        (usage.user_cpu_us + usage.system_cpu_us) as f64 / f64::from(readings)
    };
    Ok(Cost { reader_us: mean(&reader), server_us: mean(&server), elapsed_us, numbers })
}
