//! Measures how much the capacities from several runs of the same search differ.
//!
//! ```console
//! $ cargo run --release -p dyno-bench -- capacity
//! ```

use std::path::{Path, PathBuf};

use clap::Args;
use dyno_judge::{Capacity, capacity};
use dyno_stats::median;

use crate::support::pair;
use crate::support::plan_run::run_plan;

/// Goal: largest distance of a run's capacity from the median of all runs, as a share of the median.
const GOAL: f64 = 0.05;

#[derive(Args)]
pub(crate) struct Options {
    /// Number of runs.
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Rounds of a run. Each round searches on a new instance; the capacity of a run is the median over its
    /// rounds.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    #[arg(long, default_value = "mariadb@10.11/innodb")]
    engine: String,
    #[arg(long, default_value = "oltp_point_select")]
    workload: String,
    #[arg(long, default_value_t = 8)]
    clients: u32,
    /// Limit of the 99th percentile of latency, in ms.
    #[arg(long, default_value_t = 5.0)]
    p99_ms: f64,
    /// A search stops when the interval that contains the capacity is at most this wide, as a share of the capacity.
    #[arg(long, default_value_t = 0.05)]
    within: f64,
    /// Longest time of a search, in seconds.
    #[arg(long, default_value_t = 25.0)]
    seconds_max: f64,
    /// Put the data on a volume with this limit of I/O operations per second. The data is then ten times as large
    /// as the buffer pool. Needs root. Without this option, the data fits in memory.
    #[arg(long)]
    iops: Option<u32>,
    /// Write the results file here.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let results = options.keep.clone().unwrap_or_else(|| folder.path().join("capacity.db"));
    let mut table = pair::table(&["run", "events/s", "least of its rounds", "most", "narrow searches"]);
    let mut rates = Vec::new();
    for number in 1..=options.runs {
        let found = search(options, number, &results)?;
        let mut of_rounds: Vec<f64> = found.iter().map(|capacity| capacity.per_second).collect();
        of_rounds.sort_by(f64::total_cmp);
        let middle = median(&of_rounds);
        let [Some(&least), Some(&most), Some(rate)] = [of_rounds.first(), of_rounds.last(), middle.as_ref()]
        else {
            anyhow::bail!("run {number} found no capacity");
        };
        rates.push(*rate);
        table.add_row([
            number.to_string(),
            format!("{rate:.0}"),
            format!("{least:.0}"),
            format!("{most:.0}"),
            format!("{} of {}", found.iter().filter(|capacity| capacity.is_narrow).count(), found.len()),
        ]);
    }
    println!("{table}");
    let middle = median(&rates).unwrap_or(f64::NAN);
    let apart = rates.iter().map(|rate| (rate / middle - 1.0).abs()).fold(0.0, f64::max);
    let met = if apart <= GOAL { "yes" } else { "no" };
    println!(
        "median {middle:.0} events/s; farthest run {:.1}% from it; goal ≤ {:.0}%: {met}",
        100.0 * apart,
        100.0 * GOAL
    );
    Ok(())
}

fn search(options: &Options, number: u32, results: &Path) -> anyhow::Result<Vec<Capacity>> {
    let Options { rounds, engine, workload, clients, p99_ms, within, seconds_max, iops, .. } = options;
    let (pool, rows) = if iops.is_some() { ("32M", 1_500_000) } else { ("128M", 10_000) };
    let settings = if engine.starts_with("mariadb") {
        format!("innodb_buffer_pool_size = \"{pool}\", innodb_flush_method = \"O_DIRECT\"")
    } else {
        String::new()
    };
    let confinement =
        iops.map(|iops| format!("[confinement]\nvolume = \"4G\"\niops = {iops}\n")).unwrap_or_default();
    let limit_io = if iops.is_some() { "limit_io = false\n" } else { "" };
    let text = format!(
        "name = \"capacity\"\ntitle = \"run {number} of {}\"\nbase = \"a\"\nrounds = {rounds}\nclients = [{clients}]\n\
         seconds = 1\nwarmup_seconds = 1\nwarm = true\n{confinement}[data]\ntables = 1\nrows = {rows}\n\
         [[system]]\nid = \"a\"\nengine = \"{engine}\"\nsettings = {{ {settings} }}\n\
         [[step]]\nid = \"load\"\ngroup = \"load\"\ncommand = \"prepare\"\nworkload = \"{workload}\"\n\
         operation = \"row\"\nclients = [1]\n{limit_io}\
         [[step]]\nid = \"find\"\ngroup = \"all\"\nworkload = \"{workload}\"\noperation = \"transaction\"\n\
         find = {{ p99_ms = {p99_ms}, within = {within}, seconds_max = {seconds_max} }}\n",
        options.runs
    );
    let run = run_plan(&text, "capacity", results)?;
    let find = run.steps.iter().find_map(|step| step.find);
    let capacities =
        |find| run.trials.iter().filter_map(move |trial| capacity(find, &trial.record)).collect();
    Ok(find.as_ref().map(capacities).unwrap_or_default())
}
