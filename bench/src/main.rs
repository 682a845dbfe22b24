//! Compares Dyno with other tools. Values are medians of several measurements.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- load
//! ```

mod files;
mod generator;
mod hostile;
mod servers;
mod support;
mod verdicts;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use dyno_host::Awake;

use self::files::{dataset, merge, report, results};
use self::generator::{
    client, connections, ibench, kernels, load, outages, pgbench, prepare, reconnect, table, tprocc, traffic,
};
use self::hostile::{faults, fuzz};
use self::servers::{counters, failovers, lag, snapshot};
use self::verdicts::{capacity, causes, events, freeze, neighbours, truth, upgrade, variance};

/// Measures Dyno beside other tools. This is not a test: read the ratios.
#[derive(Parser)]
#[command(
    name = "dyno-bench",
    after_help = "Example:\n  cargo run --release -p dyno-bench -- load --rounds 5"
)]
struct Arguments {
    /// Keep idle cores from halting (needs root). In a virtual machine, waking a core takes most of a short query's
    /// time.
    #[arg(long, global = true)]
    keep_cores_awake: bool,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Point selects on one MariaDB: Dyno's load generator and sysbench in turn.
    Load(load::Options),
    /// The client alone: its CPU time beside sysbench and an older Dyno, and its cycles by stage.
    Client(client::Options),
    /// Loading tables into one MariaDB: Dyno and sysbench in turn.
    Prepare(prepare::Options),
    /// pgbench's own scripts on PostgreSQL: Dyno and pgbench in turn, whether both write the same rows, and the goals.
    Pgbench(pgbench::Options),
    /// The insert benchmark: Dyno and iibench.py in turn, whether both write the same rows, and the goals.
    Ibench(ibench::Options),
    /// TPC-C with stored procedures, compared with the same transactions sent as statements: the share of new orders,
    /// and the ratio of the two.
    Tprocc(tprocc::Options),
    /// Thousands of connections at a low rate: Dyno alone.
    Connections(connections::Options),
    /// Thousands of connections that are all lost at the same time: after what time they are back, and logins per
    /// tenth of a second.
    Reconnect(reconnect::Options),
    /// All benchmarks that have goals: the measured values beside the goals.
    All(table::Options),
    /// CPU time that one reading of a server's counters costs the server and the reader.
    Counters(counters::Options),
    /// Saving and restoring a snapshot of loaded data, beside `cp`.
    Snapshot(snapshot::Options),
    /// The HTML report of a large run: time to write it, its size, time to open it in a browser.
    Report(report::Options),
    /// Share of correct verdicts on real servers, with equal systems and with planted differences.
    Truth(truth::Options),
    /// Ways to make ratios vary less, estimated from stored runs: covariates, and several instances in a round.
    Variance(variance::Options),
    /// Verdicts while other processes (neighbours) use from 5 to 100% of one CPU or two: which verdicts are right, and
    /// how many rounds are disturbed.
    Neighbours(neighbours::Options),
    /// Importing logs of servers, and replaying a log, compared with pgreplay.
    Traffic(traffic::Options),
    /// Planted regressions that `dyno upgrade` has to find on a real upgrade, beside pt-upgrade; or its false alarms between
    /// equal versions.
    Upgrade(upgrade::Options),
    /// Planted outages: their start and length as Dyno's load and sysbench record them.
    Outages(outages::Options),
    /// Failovers to replicas that were cut off shortly before: what is lost in each mode of replication.
    Failovers(failovers::Options),
    /// Known lags of a replica that is held back, beside the lags that Dyno measures.
    Lag(lag::Options),
    /// How often the figures of events show a difference between equal systems.
    Events(events::Options),
    /// The bias of a known ratio if one server postpones work by 200 ms, with and without freezing the servers that are
    /// not being measured.
    Freeze(freeze::Options),
    /// The capacity that several runs of one search find, and the spread between them.
    Capacity(capacity::Options),
    /// Planted causes: which ones `dyno explain` finds and proves, and what it blames wrongly.
    Causes(causes::Options),
    /// A large results file: cost of recording, time of a report.
    Results(results::Options),
    /// A partitioned data set of many runs: rows written per second, and the time of a history query in
    /// `DuckDB`.
    Dataset(dataset::Options),
    /// Merging many results files: time and memory.
    Merge(merge::Options),
    /// Faults at random moments of real runs: results that are lost or wrong, leftovers, runs that do not
    /// resume.
    Faults(faults::Options),
    /// CPU time of sysbench's cpu test: Dyno and sysbench in turn.
    Kernels(kernels::Options),
    /// Mutated input for code that reads bytes from outside: packets, addresses, plans, results files.
    Fuzz(fuzz::Options),
}

fn main() -> anyhow::Result<()> {
    // The benchmark is also the program of its own load processes, as `dyno` is with `dyno drive`.
    if std::env::args_os().nth(1).is_some_and(|command| command == "drive") {
        return Ok(dyno_load::drive_stdio(|_| Ok(()))?);
    }
    if std::env::args_os().nth(1).is_some_and(|command| command == traffic::IMPORT) {
        let paths: Vec<PathBuf> = std::env::args_os().skip(2).map(PathBuf::from).collect();
        return traffic::import_log(&paths);
    }
    let arguments = Arguments::parse();
    let _awake = arguments.keep_cores_awake.then(Awake::hold).transpose()?;
    match arguments.what {
        What::Load(options) => load::run(&options),
        What::Client(options) => client::run(&options),
        What::Prepare(options) => prepare::run(&options),
        What::Pgbench(options) => pgbench::run(&options),
        What::Ibench(options) => ibench::run(&options),
        What::Tprocc(options) => tprocc::run(&options),
        What::Connections(options) => connections::run(&options),
        What::Reconnect(options) => reconnect::run(&options),
        What::All(options) => table::run(&options),
        What::Counters(options) => counters::run(&options),
        What::Snapshot(options) => snapshot::run(&options),
        What::Report(options) => report::run(&options),
        What::Truth(options) => truth::run(&options),
        What::Variance(options) => variance::run(&options),
        What::Neighbours(options) => neighbours::run(&options),
        What::Traffic(options) => traffic::run(&options),
        What::Upgrade(options) => upgrade::run(&options),
        What::Outages(options) => outages::run(&options),
        What::Failovers(options) => failovers::run(&options),
        What::Lag(options) => lag::run(&options),
        What::Events(options) => events::run(&options),
        What::Freeze(options) => freeze::run(&options),
        What::Capacity(options) => capacity::run(&options),
        What::Causes(options) => causes::run(&options),
        What::Results(options) => results::run(&options),
        What::Dataset(options) => dataset::run(&options),
        What::Merge(options) => merge::run(&options),
        What::Faults(options) => faults::run(&options),
        What::Kernels(options) => kernels::run(&options),
        What::Fuzz(options) => fuzz::run(&options),
    }
}
