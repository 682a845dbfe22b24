//! Compares two ways of running TPC-C on the same server, in turn: transactions as stored procedures, and the same
//! transactions sent statement by statement.

use std::cell::RefCell;

use anyhow::Context;
use clap::Args;
use dyno_engine::Access;
use dyno_load::Job;

use crate::support::child::{Sample, Session};
use crate::support::goals::{Goals, Limit};
use crate::support::pair::{self, Pair};
use crate::support::{dyno, server};

/// Share of new orders that are committed. The others name an item that does not exist, and are rolled back (clause
/// 2.4.1.4 of the specification).
const COMMITTED: f64 = 0.99;

#[derive(Args)]
pub(crate) struct Options {
    /// Systems of the catalogue, measured one after the other.
    #[arg(long, value_delimiter = ',', default_values = ["mysql@9.7.4/innodb", "mariadb@10.11/innodb", "postgres@18.4"])]
    systems: Vec<String>,
    /// Warehouses.
    #[arg(long, default_value_t = 2)]
    scale: u32,
    /// Connections.
    #[arg(long, default_value_t = 4)]
    connections: u32,
    /// Number of measurements with procedures, and of measurements without them. Each of these pairs uses a new server.
    /// If there are at least six, the interval does not assume that the values are normally distributed.
    #[arg(long, default_value_t = 6)]
    rounds: usize,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 20)]
    seconds: u32,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut goals = Goals::new(["statements", "procedures"]);
    for system in &options.systems {
        let shares = RefCell::new(Vec::new());
        let pair = measure(options, system, &shares)?;
        let what = |of: &str| format!("{system}, {of}");
        goals.values(&what("share of new orders"), &shares.into_inner(), Some(Limit::Within(0.44, 0.46)));
        goals.ratio(&what("transactions/s"), &pair, |sample| sample.queries_per_second, None);
        goals.ratio(&what("client CPU µs/transaction"), &pair, Sample::cpu_us_per_query, None);
        // PostgreSQL has a process for each connection. The CPU time of these processes is not measured.
        if !system.starts_with("postgres") {
            goals.ratio(&what("server CPU µs/transaction"), &pair, Sample::server_us_per_query, None);
        }
    }
    let (connections, rounds, seconds) = (options.connections, options.rounds, options.seconds);
    goals.print(&format!(
        "TPROC-C over {connections} connections, {rounds} servers, {seconds} s each; all conditions of TPC-C hold after each"
    ));
    Ok(())
}

/// Measures a system with stored procedures and without them. Appends each run's share of new orders to `shares`.
fn measure(options: &Options, system: &str, shares: &RefCell<Vec<f64>>) -> anyhow::Result<Pair> {
    let start = || {
        let settings: &[(&str, &str)] = match system {
            postgres if postgres.starts_with("postgres") => &[("shared_buffers", "512MB")],
            _ => &[("innodb_buffer_pool_size", "512M")],
        };
        let server = server::start_engine(system, settings.iter().copied())?;
        eprintln!("{system}: loading {} warehouses", options.scale);
        let prepare =
            Job { connections: options.connections, ..job(options, server.access(), "prepare", true)? };
        dyno::run(&prepare, Session::Servers)?;
        Ok(server)
    };
    let (pairs, _) = pair::on_new_servers(options.rounds, &[()], start, |server, (), pair| {
        let access = server.access();
        let side = |procedures| move || sample(options, access, procedures, shares);
        pair.take(side(false), side(true))?;
        // The job fails if a consistency condition of TPC-C does not hold.
        dyno::run(&job(options, access, "check", true)?, Session::Servers)?;
        Ok(())
    })?;
    pairs.into_iter().next().context("no round")
}

fn job(options: &Options, access: &Access, command: &str, procedures: bool) -> anyhow::Result<Job> {
    let procedures = if procedures { "on" } else { "off" };
    let scale = options.scale.to_string();
    // At a stricter isolation level, PostgreSQL aborts transactions that only have to wait in other engines.
    let workload = [("scale", scale.as_str()), ("procedures", procedures), ("trx_level", "RC")];
    dyno::builtin(access, "tprocc", command, &workload)
}

/// Runs transactions for the configured time. The field `queries` of the returned sample counts transactions.
fn sample(
    options: &Options,
    access: &Access,
    procedures: bool,
    shares: &RefCell<Vec<f64>>,
) -> anyhow::Result<Sample> {
    let transactions = Job {
        connections: options.connections,
        seconds: Some(f64::from(options.seconds)),
        ..job(options, access, "run", procedures)?
    };
    let mut new_orders = None;
    let server_us = server::cpu_us(access)?;
    let (total, cpu_us, memory_bytes_max) =
        dyno::run_and_hear(&transactions, Session::Servers, &mut |text| {
            new_orders = new_orders.or_else(|| new_orders_of(text));
        })?;
    let server_us = server::cpu_us(access)?.saturating_sub(server_us);
    let events = total.counts.events;
    let new_orders = new_orders.context("the workload printed no new orders")?;
    shares.borrow_mut().push(new_orders / COMMITTED / events.max(1) as f64);
    Ok(Sample { server_us, ..dyno::sample(&total, events, cpu_us, memory_bytes_max) })
}

/// Reads the number of new orders from a line such as `tprocc: 1234 new orders in 10.0 s, …`.
fn new_orders_of(text: &str) -> Option<f64> {
    text.lines().find(|line| line.contains("new orders"))?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::new_orders_of;

    #[test]
    fn the_workload_s_line_is_read() {
        let line = "tprocc: 1234 new orders in 10.0 s, warm-up included: 7404 NOPM\n";
        assert_eq!(new_orders_of(line), Some(1234.0));
        assert_eq!(new_orders_of("tpcc set 1: creating tables"), None);
    }
}
