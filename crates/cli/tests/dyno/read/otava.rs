//! Apache Otava, as published on `PyPI`, reads exported figures and finds the change that `dyno history` finds.

use std::process::Command;

use dyno_engine::testing::python;
use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use serde_json::Value;

use super::compare::add_run_of;
use crate::bench::{Bench, Ended};

const PACKAGE: &str = "apache-otava==0.8.0";

#[dyno_test(ignorable)]
fn it_finds_the_run_that_the_history_finds() -> Result<Completion, Failed> {
    let package = match python::package(PACKAGE) {
        Ok(package) => package,
        Err(reason) => return python::lacking(reason),
    };
    let bench = Bench::new();
    for run in 0..14 {
        let rate = if run < 7 { 1000.0 } else { 930.0 };
        add_run_of(&bench, "nightly", &[("db", &[rate + f64::from(run % 3)])], 1);
    }
    // Otava reads only figures of the last year, so the runs get recent times.
    let results = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    results.execute("UPDATE run SET started_at_ms = (unixepoch() - (15 - id) * 86400) * 1000", []).unwrap();
    drop(results);
    let history = bench.dyno(&["history", "nightly"]).with(0).stdout;
    assert!(history.contains("With run 8: 0.93 times the level before"), "{history}");

    bench.dyno(&["export", "--format", "otava", "otava"]).with(0);
    let mut otava = Command::new("python3");
    otava.arg(package.join("bin/otava")).env("PYTHONPATH", &package).current_dir(bench.path("otava"));
    otava.args(["analyze", "--config-file", "otava.yaml", "--output", "json", "nightly"]);
    let analysed = Ended::from(otava.output().unwrap()).with(0);
    let found: Value = serde_json::from_str(&analysed.stdout).unwrap();
    let changes = found["nightly.db.step0.4"].as_array().unwrap();
    let runs: Vec<&Value> = changes.iter().map(|change| &change["attributes"]["run"]).collect();
    assert_eq!(runs, ["8"], "{found}");
    assert_eq!(changes[0]["changes"][0]["metric"], "throughput", "{found}");
    Ok(Completion::Completed)
}
