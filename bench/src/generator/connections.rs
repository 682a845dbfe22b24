//! The latency of thousands of connections at a low open-loop rate: events start on schedule, even if earlier
//! events have not ended.

use clap::Args;
use dyno_load::{Rate, Total};

use crate::generator::load::fill;
use crate::support::child::Session;
use crate::support::shape::Shape;
use crate::support::{dyno, pair, server};

#[derive(Args)]
pub(crate) struct Options {
    /// Connections.
    #[arg(long, default_value_t = 10_000)]
    connections: u32,
    /// Events per second, over all connections.
    #[arg(long, default_value_t = 1000.0)]
    rate: f64,
    /// Measured seconds, after a warm-up of two seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u32,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let total = measure(options)?;
    let mut table = pair::table(&[
        "connections",
        "events/s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "errors",
        "backlog",
        "memory MB",
    ]);
    let quantile = |at| format!("{:.2}", quantile_ms(&total, at));
    table.add_row([
        options.connections.to_string(),
        format!("{:.0}", total.counts.events as f64 / total.seconds),
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        errors(&total).to_string(),
        total.backlog.to_string(),
        format!("{:.0}", total.usage.memory_bytes_max as f64 / 1e6),
    ]);
    pair::print("oltp_point_select at a rate, Dyno alone", table, 0);
    Ok(())
}

/// Runs the load on a new server with a thread pool.
pub(crate) fn measure(options: &Options) -> anyhow::Result<Total> {
    let server = server::start(&[("thread_handling", "pool-of-threads")].into())?;
    let shape = Shape { seconds: options.seconds, tables: 1, ..Shape::point_selects() };
    fill(server.access(), &shape)?;
    eprintln!("{} connections at {} events a second", options.connections, options.rate);
    let mut job = dyno::job(server.access(), &shape, "run", options.connections)?;
    job.rate = Some(Rate::steady(options.rate));
    job.warmup_seconds = 2.0;
    job.tuning.start_seconds_max = 120.0;
    let (total, ..) = dyno::run(&job, Session::Servers)?;
    server.stop()?;
    Ok(total)
}

/// The load for which goals are set.
pub(crate) fn goal() -> Options {
    Options { connections: 10_000, rate: 1000.0, seconds: 10 }
}

pub(crate) fn quantile_ms(total: &Total, quantile: f64) -> f64 {
    total.latency.quantile_us(quantile).unwrap_or(f64::NAN) / 1000.0
}

/// Returns the number of ignored errors plus the number of unfinished events.
pub(crate) fn errors(total: &Total) -> u64 {
    total.counts.errors + u64::from(total.unfinished)
}
