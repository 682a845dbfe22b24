//! A partitioned data set of many runs: how many rows are written per second, and how long `DuckDB` takes to
//! compute the history of one test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use dyno_export::{DatasetOptions, Grown, Volume, grow_dataset};
use dyno_store::{Ending, Store, TrialRecord};
use rusqlite::{Connection, params};

use crate::files::{records, results};

const GOAL_ROWS_PER_SECOND: f64 = 1e5;
const GOAL_QUERY_SECONDS: f64 = 1.0;

const DAY_MS: i64 = 86_400_000;

#[derive(Args)]
pub(crate) struct Options {
    /// Trials in the data set.
    #[arg(long, default_value_t = 1_000_000)]
    trials: u32,
    /// Trials in each run.
    #[arg(long, default_value_t = 1000)]
    trials_a_run: u32,
    /// Runs in each results file that is exported.
    #[arg(long, default_value_t = 50)]
    runs_a_file: u32,
    /// Number of plans. Runs are divided among them, and each plan runs once a day.
    #[arg(long, default_value_t = 10)]
    plans: u32,
    /// Number of hosts. Runs are divided among them.
    #[arg(long, default_value_t = 2)]
    hosts: u32,
    /// Executions of the query. The first is shown separately.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// A Python with the package `duckdb` (`pip install duckdb`).
    #[arg(long, value_name = "FILE", default_value = "python3")]
    python: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (file, dataset) = (folder.path().join("dyno.db"), folder.path().join("dataset"));
    make_run(options, &file)?;
    copy_run(&file, options.runs_a_file)?;
    let mut volume = Volume::default();
    let (mut spent, mut cpu_seconds) = (Duration::ZERO, 0.0);
    let files = options.trials.div_ceil(options.trials_a_run).div_ceil(options.runs_a_file);
    let runs = files * options.runs_a_file;
    for number in 0..files {
        change_runs(options, &file, number)?;
        let (cpu_before, began) = (results::cpu_seconds()?, Instant::now());
        let added = add_runs(&file, &dataset)?;
        spent += began.elapsed();
        cpu_seconds += results::cpu_seconds()? - cpu_before;
        volume = Volume { rows: volume.rows + added.rows, bytes: volume.bytes + added.bytes };
        eprintln!("{} of {runs} runs written", (number + 1) * options.runs_a_file);
    }
    let seconds = spent.as_secs_f64();
    let trials = f64::from(runs) * f64::from(options.trials_a_run);
    println!(
        "{runs} runs of {} trials: {} rows, {:.0} MB in {seconds:.1} s: {:.0} rows/s (to be above {GOAL_ROWS_PER_SECOND}), \
         {:.0} trials/s; CPU {cpu_seconds:.1} s",
        options.trials_a_run,
        volume.rows,
        volume.bytes as f64 / 1e6,
        volume.rows as f64 / seconds,
        trials / seconds
    );
    println!("{}", query(options, runs, &dataset)?);
    Ok(())
}

/// Writes a results file with one run of many trials. The trials have no samples.
fn make_run(options: &Options, path: &Path) -> anyhow::Result<()> {
    let mut store = Store::open(path)?;
    let run = store.create_run(&records::run())?;
    for system in records::systems() {
        store.put_system(run, &system)?;
    }
    for step in records::steps(options.trials_a_run, 1) {
        store.add_step(run, &step)?;
    }
    let mut pool = records::Pool::new();
    for number in 0..options.trials_a_run {
        let trial = TrialRecord { samples: Vec::new(), ..pool.trial(number, 1, 0) };
        store.commit_trial(run, &trial)?;
    }
    Ok(store.finish_run(run, Ending::Finished, records::STARTED_AT_MS + 1)?)
}

fn plan(number: u32) -> String {
    format!("plan-{number}")
}

/// Copies the only run of a results file until the file has `runs` runs.
fn copy_run(path: &Path, runs: u32) -> anyhow::Result<()> {
    let file = Connection::open(path)?;
    for run in 2..=runs {
        let copy = |table: &str, numbers: &str| {
            format!(
                "CREATE TEMP TABLE copied AS SELECT * FROM {table} WHERE {key} = 1;
                 UPDATE copied SET {numbers};
                 INSERT INTO {table} SELECT * FROM copied;
                 DROP TABLE copied;",
                key = if table == "run" { "id" } else { "run_id" }
            )
        };
        let of_run = ["system", "variable", "step"].map(|table| copy(table, &format!("run_id = {run}")));
        let trials = format!("run_id = {run}, id = id + (SELECT max(id) FROM trial)");
        let all = [copy("run", &format!("id = {run}")), of_run.concat(), copy("trial", &trials)];
        file.execute_batch(&format!("BEGIN; {} COMMIT;", all.concat()))?;
    }
    Ok(())
}

/// Makes the runs of a file differ in plan, day and host, and in the numbers of their trials.
fn change_runs(options: &Options, path: &Path, file_number: u32) -> anyhow::Result<()> {
    let mut file = Connection::open(path)?;
    let changes = file.transaction()?;
    for run in 0..options.runs_a_file {
        let number = file_number * options.runs_a_file + run;
        let (plan, day) = (plan(number % options.plans), i64::from(number / options.plans));
        let host = day % i64::from(options.hosts);
        let host = format!(r#"{{"hostname": "bench-{host}", "cpu_model": "EPYC", "cpus": 2}}"#);
        changes.execute(
            "UPDATE run SET plan_name = ?1, plan_text = ?1, started_at_ms = ?2, host = ?3 WHERE id = ?4",
            params![plan, records::STARTED_AT_MS + day * DAY_MS, host, run + 1],
        )?;
    }
    changes.execute("UPDATE trial SET operations = operations + id % 7", [])?;
    Ok(changes.commit()?)
}

fn add_runs(results: &Path, dataset: &Path) -> anyhow::Result<Volume> {
    let store = Store::open_read_only(results)?;
    let options = DatasetOptions { runs: None, rewrite: false, stop: &AtomicBool::new(false) };
    let mut added = Volume::default();
    let mut is_whole = true;
    grow_dataset(&store, dataset, &options, &mut |run| match run.grown {
        Grown::Added(volume) => {
            added = Volume { rows: added.rows + volume.rows, bytes: added.bytes + volume.bytes };
        }
        _ => is_whole = false,
    })?;
    anyhow::ensure!(is_whole, "a run was not added");
    Ok(added)
}

/// Runs the query for the history of one test, and formats its times.
fn query(options: &Options, runs: u32, dataset: &Path) -> anyhow::Result<String> {
    let output = Command::new(&options.python)
        .args(["-c", include_str!("dataset.py")])
        .arg(dataset)
        .args([plan(0), options.rounds.to_string()])
        .output()
        .with_context(|| format!("cannot start {}", options.python.display()))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        let last = reason.lines().last().unwrap_or_default();
        return Ok(format!("not queried: {last}; name a Python that has DuckDB with --python"));
    }
    let text = String::from_utf8(output.stdout)?;
    let mut seconds = Vec::new();
    let mut rows = 0;
    for line in text.lines() {
        let (time, count) = line.split_once(' ').context("the script prints two numbers a line")?;
        seconds.push(time.parse::<f64>()?);
        rows = count.parse()?;
    }
    let runs = runs.div_ceil(options.plans);
    anyhow::ensure!(rows == runs, "the history has {rows} runs instead of {runs}");
    let (first, others) = seconds.split_first().context("no rounds")?;
    let median = dyno_stats::median(others).context("one round only")?;
    Ok(format!(
        "history of one test in DuckDB, {rows} runs: {median:.2} s, first {first:.2} s (to be below {GOAL_QUERY_SECONDS})"
    ))
}
