//! A partitioned data set of real runs, and the queries of `docs/do/export.md`. Each query runs in the engine that
//! it is written for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_engine::testing::python;
use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::bench::Bench;
use crate::run::sqlite::bench_with_run;

const DOCUMENT: &str = include_str!("../../../../../docs/do/export.md");

#[dyno_test]
fn a_data_set_grows_by_each_run_once() {
    let bench = bench_with_run();
    let first = bench.dyno(&["export", "--partition", "--to", "set"]);
    assert_eq!((first.status, first.stderr.as_str()), (Some(0), ""));
    assert!(first.stdout.starts_with("run 1: added as "), "{}", first.stdout);
    let again = bench.dyno(&["export", "--partition", "set"]);
    assert!(again.stdout.starts_with("run 1: is there already, as "), "{}", again.stdout);
    let forced = bench.dyno(&["export", "--partition", "--to", "set", "--force"]);
    assert!(forced.stdout.starts_with("run 1: replaced "), "{}", forced.stdout);
    // The folder of a table has nested folders for plan, date and host. The innermost folder contains the file.
    let mut place = bench.path("set/trial");
    for _ in 0..4 {
        let entries: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [only] = &entries[..] else { panic!("{entries:?}") };
        place.clone_from(only);
    }
    assert!(place.to_string_lossy().contains("set/trial/plan=tiny/date=20"), "{}", place.display());
    assert!(fs::read(&place).unwrap().ends_with(b"PAR1"));

    let systems = place.to_string_lossy().replace("/trial/", "/system/");
    fs::copy(&place, systems).unwrap();
    let other = bench.dyno(&["history", "tiny", "--dataset", "set"]).with(1);
    let expected = ".parquet: it has no column `name`; export its run again with --force\n";
    assert!(other.stderr.ends_with(expected), "{}", other.stderr);
}

#[dyno_test]
fn what_cannot_be_partitioned_is_told() {
    let bench = bench_with_run();
    let csv = bench.dyno(&["export", "--partition", "--to", "set", "--format", "csv"]);
    assert_eq!(
        csv.stderr,
        "error: a partitioned data set is in Parquet; leave out --format, or leave out --partition\n"
    );
    let nowhere = bench.dyno(&["export", "--partition"]).with(2);
    assert!(nowhere.stderr.contains("<DIR>"), "{}", nowhere.stderr);
    assert!(!bench.path("set").exists());
}

#[dyno_test]
fn the_history_of_a_data_set_is_that_of_its_results_files() {
    let bench = bench_with_run();
    for night in 0..14_i64 {
        fs::copy(bench.path("dyno.db"), bench.path("night.db")).unwrap();
        let results = Connection::open(bench.path("night.db")).unwrap();
        let level = if night < 7 { 1000 } else { 900 };
        let rate = level + night % 3;
        results
            .execute_batch(&format!(
                "UPDATE run SET plan_name = 'every night', started_at_ms = started_at_ms + {night} * 86400000;
                 UPDATE trial SET seconds = 1, operations = {rate} + round;
                 UPDATE trial SET is_superseded = 1, operations = 1
                     WHERE system_id = 'wal' AND step_id = 'update' AND round = 1"
            ))
            .unwrap();
        drop(results);
        bench.dyno(&["export", "--partition", "--to", "set", "--results", "night.db"]).with(0);
        bench.dyno(&["results", "merge", "night.db", "--results", "all.db"]).with(0);
    }
    let history = |from: [&str; 2]| {
        let gate = ["--gate", "--change-min", "1", "--format", "json"];
        bench.dyno(&[&["history", "every night"], &from[..], &gate].concat())
    };
    let (of_set, of_file) = (history(["--dataset", "set"]), history(["--results", "all.db"]));
    assert_eq!((of_set.status, &of_set.stdout), (of_file.status, &of_file.stdout));
    assert_eq!((of_set.status, of_set.stderr.as_str()), (Some(1), of_file.stderr.as_str()));
    assert!(of_set.stderr.starts_with("regressed: "), "{}", of_set.stderr);

    let other = bench.dyno(&["history", "weekly", "--dataset", "set"]);
    assert_eq!(other.stderr, "error: set: has no run of a plan weekly\n");
    let none = bench.dyno(&["history", "weekly", "--dataset", "."]);
    assert!(none.stderr.starts_with("error: .: no data set in it; make one with "), "{}", none.stderr);
}

/// An engine that reads the data set.
struct Engine {
    /// The engine's name in `sql.py`.
    name: &'static str,
    /// The first line of the document's statement that creates the engine's view.
    view: &'static str,
    packages: &'static [&'static str],
    /// Whether the engine is only fetched on demand.
    is_large: bool,
}

const DUCKDB: Engine =
    Engine { name: "duckdb", view: "-- DuckDB", packages: &[python::DUCKDB], is_large: false };
/// `ClickHouse` as a Python package.
pub(crate) const CHDB: &[&str] = &["chdb-core==26.9.0"];

const CLICKHOUSE: Engine =
    Engine { name: "clickhouse", view: "-- ClickHouse", packages: CHDB, is_large: false };
const SPARK: Engine = Engine {
    name: "spark",
    view: "-- Spark",
    packages: &["pyspark==4.0.5", "py4j==0.10.9.9"],
    is_large: true,
};

impl Engine {
    /// The rows that a query of the document returns.
    fn rows(&self, packages: &Path, bench: &Bench, query: &str) -> Vec<Map<String, Value>> {
        let statements = [statement(self.view), statement(query)];
        let input = serde_json::to_string(&statements).unwrap();
        let output = python::run(include_str!("sql.py"), &[self.name], packages, &bench.path(""), &input);
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The SQL statement of the document that begins with this line, without its semicolon.
fn statement(first_line: &str) -> &'static str {
    let (_, rest) = DOCUMENT.split_once(&format!("```sql\n{first_line}\n")).unwrap();
    rest.split_once(";\n```").unwrap().0
}

#[dyno_test(ignorable)]
fn the_documented_queries_run_in_duckdb() -> Result<Completion, Failed> {
    the_documented_queries_run(&DUCKDB)
}

#[dyno_test(ignorable)]
fn the_documented_queries_run_in_clickhouse() -> Result<Completion, Failed> {
    the_documented_queries_run(&CLICKHOUSE)
}

#[dyno_test(ignorable)]
fn the_documented_queries_run_in_spark() -> Result<Completion, Failed> {
    the_documented_queries_run(&SPARK)
}

fn the_documented_queries_run(engine: &Engine) -> Result<Completion, Failed> {
    if engine.is_large && std::env::var_os("DYNO_LARGE_ENGINES").is_none_or(|value| value != "1") {
        return Ok(Completion::ignored_with("its engine is large; DYNO_LARGE_ENGINES=1 fetches it"));
    }
    let packages = match python::packages(engine.packages) {
        Ok(packages) => packages,
        Err(reason) => return python::lacking(reason),
    };
    let bench = two_months();
    history(&engine.rows(&packages, &bench, "-- History of a test"));
    regressions(&engine.rows(&packages, &bench, "-- Worst regressions of a month"));
    costs(&engine.rows(&packages, &bench, "-- Cost by hardware"));
    Ok(Completion::Completed)
}

/// Rate of both systems in all trials of the first run of [`two_months`].
const RATE: f64 = 1000.0;

/// A data set of three real runs with changed times, hosts and rates. The first host has a run in October and a run
/// in November. In the November run, `wal` has half of its rate in `update`. The second host has a run in November,
/// with twice the rate at three times the price.
fn two_months() -> Bench {
    let bench = bench_with_run();
    for (file, started_at_ms, host, cpu_model, rate, dollars) in [
        // 2026-10-10, 2026-11-10 and 2026-11-11, each at 00:00 UTC.
        ("october.db", 1_791_590_400_000_i64, "bench-1", "Old CPU", RATE, 1.0),
        ("november.db", 1_794_268_800_000, "bench-1", "Old CPU", RATE, 1.0),
        ("other.db", 1_794_355_200_000, "bench-2", "New CPU", 2.0 * RATE, 3.0),
    ] {
        fs::copy(bench.path("dyno.db"), bench.path(file)).unwrap();
        let results = Connection::open(bench.path(file)).unwrap();
        let halved = if file == "november.db" { rate / 2.0 } else { rate };
        results
            .execute_batch(&format!(
                "UPDATE run SET plan_name = 'nightly', started_at_ms = {started_at_ms},
                     host = json_set(host, '$.hostname', '{host}', '$.cpu_model', '{cpu_model}', '$.cpus', 2);
                 UPDATE system SET dollars_per_hour = {dollars};
                 UPDATE trial SET seconds = 2, operations = 2 * {rate};
                 UPDATE trial SET operations = 2 * {halved} WHERE system_id = 'wal' AND step_id = 'update';"
            ))
            .unwrap();
        drop(results);
        bench.dyno(&["export", "--partition", "--to", "dataset", "--results", file]).with(0);
    }
    bench
}

fn text<'a>(row: &'a Map<String, Value>, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("{name} of {row:?}"))
}

fn number(row: &Map<String, Value>, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row:?}"))
}

fn history(rows: &[Map<String, Value>]) {
    let found: Vec<_> = rows
        .iter()
        .map(|row| (text(row, "date"), text(row, "host"), number(row, "rate"), number(row, "trials")))
        .collect();
    assert_eq!(
        found,
        [
            ("2026-10-10", "bench-1", RATE, 2.0),
            ("2026-11-10", "bench-1", RATE / 2.0, 2.0),
            ("2026-11-11", "bench-2", 2.0 * RATE, 2.0),
        ]
    );
}

fn regressions(rows: &[Map<String, Value>]) {
    let [row] = rows else { panic!("{rows:?}") };
    let place = ["plan", "host", "step_id", "system_id"].map(|name| text(row, name));
    assert_eq!(place, ["nightly", "bench-1", "update", "wal"]);
    let expected =
        [("rate_before", RATE), ("rate_in_month", RATE / 2.0), ("runs_in_month", 1.0), ("difference", -0.5)];
    for (name, expected) in expected {
        assert!((number(row, name) - expected).abs() < 1e-9, "{name} of {row:?}");
    }
}

fn costs(rows: &[Map<String, Value>]) {
    let mut of_reads: BTreeMap<(&str, u64), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| text(row, "step_id") == "point-query") {
        let dollars = number(row, "dollars_per_million_operations");
        of_reads.entry((text(row, "cpu_model"), number(row, "runs") as u64)).or_default().push(dollars);
    }
    let dollars = |per_hour: f64, rate: f64| per_hour / 3600.0 / rate * 1e6;
    let found: Vec<_> = of_reads.into_iter().collect();
    let [(old, old_dollars), (new, new_dollars)] =
        [("Old CPU", 2, dollars(1.0, RATE)), ("New CPU", 1, dollars(3.0, 2.0 * RATE))]
            .map(|(model, runs, dollars)| ((model, runs), dollars));
    // Both systems are SQLite, so they share one line for each kind of hardware.
    let same = |found: &[f64], expected: f64| found.len() == 1 && (found[0] / expected - 1.0).abs() < 1e-9;
    let [(first, of_new), (second, of_old)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((first, second), (&new, &old));
    assert!(same(of_new, new_dollars) && same(of_old, old_dollars), "{found:?}");
}
