//! Runs on SQLite, from a plan to its reports.

use std::fs;
use std::sync::OnceLock;

use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, sqlite_plan, unwrapped};

/// A folder with the results of the tiny plan. The plan is run once for all tests.
pub(crate) fn bench_with_run() -> Bench {
    static RESULTS: OnceLock<Vec<u8>> = OnceLock::new();
    let results = RESULTS.get_or_init(|| fs::read(bench_that_ran().path("dyno.db")).unwrap());
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.1));
    fs::write(bench.path("dyno.db"), results).unwrap();
    bench
}

/// A folder in which the tiny plan was run.
fn bench_that_ran() -> Bench {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.1));
    let ended = bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    assert!(ended.stdout.contains("A tiny plan"), "{}", ended.stdout);
    assert!(ended.stderr.contains("[10/10]"), "{}", ended.stderr);
    bench
}

#[dyno_test]
fn a_run_measures_every_trial_and_keeps_where_it_comes_from() {
    let bench = bench_that_ran();
    let plan = fs::read_to_string(bench.path("plan.toml")).unwrap();
    assert_eq!(bench.value("SELECT plan_text FROM run"), Some(plan));
    assert_eq!(bench.value("SELECT seed FROM run"), Some(7));
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));
    assert_eq!(bench.value("SELECT dyno_version FROM run"), Some(env!("CARGO_PKG_VERSION").to_owned()));
    let command: String = bench.value("SELECT command_line FROM run").unwrap();
    assert!(command.ends_with("run plan.toml --seed 7"), "{command}");
    let cpus: Option<u32> = bench.value("SELECT host ->> '$.cpus' FROM run");
    assert!(cpus > Some(0));
    for (system, mode) in [("rollback", "delete"), ("wal", "wal")] {
        let told =
            format!("SELECT value FROM variable WHERE name = 'journal_mode' AND system_id = '{system}'");
        assert_eq!(bench.value(&told), Some(mode.to_owned()));
    }
    let measured = "SELECT count(*) FROM trial WHERE outcome = 'completed' AND operations > 0 AND seconds > 0
                    AND disk_bytes_after > 0 AND server_user_cpu_us + server_system_cpu_us > 0";
    assert_eq!(bench.value(measured), Some(10));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE client_user_cpu_us IS NOT NULL"), Some(0));
    assert_eq!(bench.value("SELECT DISTINCT operations FROM trial WHERE step_id = 'load'"), Some(50));
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test]
fn the_same_seed_gives_the_same_order_of_trials() {
    let order = "SELECT group_concat(system_id || step_id || round, ' ' ORDER BY position) FROM trial";
    let first: Option<String> = bench_with_run().value(order);
    assert!(first.is_some());
    assert_eq!(first, bench_that_ran().value(order));
}

#[dyno_test]
fn reports_come_in_each_format_and_into_a_file() {
    let bench = bench_with_run();
    let text = bench.dyno(&["report"]);
    assert_eq!((text.status, text.stderr.as_str()), (Some(0), ""));
    assert!(text.stdout.contains("point-query"), "{}", text.stdout);
    assert!(
        text.stdout.lines().count() <= 40 && text.stdout.contains("dyno report 1 --full"),
        "{}",
        text.stdout
    );
    let full = bench.dyno(&["report", "--full"]).with(0);
    for section in
        ["Absolute: operations per second", "Relative: throughput against the base", "Efficiency: "]
    {
        assert!(
            full.stdout.contains(section) && !text.stdout.contains(section),
            "{section}: {}",
            full.stdout
        );
    }
    bench.dyno(&["report", "--out", "report.txt"]).with(0);
    assert_eq!(fs::read_to_string(bench.path("report.txt")).unwrap(), full.stdout, "a file has all of it");

    let json = bench.dyno(&["report", "1", "--format", "json"]);
    let reports: Value = serde_json::from_str(&json.stdout).unwrap();
    let systems: Vec<_> = reports["systems"].as_array().unwrap().iter().map(|system| &system["id"]).collect();
    assert_eq!(systems, ["rollback", "wal"]);

    let markdown = bench.dyno(&["report", "--format", "markdown", "--out", "report.md"]);
    assert_eq!((markdown.status, markdown.stdout.as_str()), (Some(0), ""));
    let file = fs::read_to_string(bench.path("report.md")).unwrap();
    assert!(file.contains("| point-query"), "{file}");

    bench.dyno(&["report", "--study", "--out", "study.md"]).with(0);
    let study = bench.dyno(&["report", "--study"]).with(0).stdout;
    assert_eq!(fs::read_to_string(bench.path("study.md")).unwrap(), study);
    assert!(study.contains("- **trials**: ") && study.contains("\n## Relative: "), "{study}");
    assert!(!study.contains("\n## Efficiency: "), "{study}");
    bench.dyno(&["report", "--study", "--format", "json"]).with(2);
}

#[dyno_test]
fn trials_and_seconds_of_the_command_line_count_before_the_plan_s() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(3600.0));
    bench.dyno(&["run", "plan.toml", "--rounds", "1", "--seconds", "0.05"]).with(0);
    assert_eq!(bench.count("trial"), 6);
    assert_eq!(bench.value("SELECT max(rounds) FROM step"), Some(1));
    assert_eq!(bench.value("SELECT max(seconds) FROM step"), Some(0.05));
}

#[dyno_test]
fn a_script_that_fails_fails_its_trials_only() {
    let bench = Bench::new();
    bench.write("broken.lua", "function event()\n  error('no such thing')\nend\n");
    bench.write(
        "plan.toml",
        &sqlite_plan(0.1)
            .replacen("oltp_point_select", "broken.lua", 1)
            .replace("[data]\ntables = 1\nrows = 50\n", ""),
    );
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(ended.stderr.contains("error: 4 of 10 trials failed"), "{}", ended.stderr);
    let failed = "SELECT count(*) FROM trial WHERE outcome = 'failed' AND step_id = 'point-query'
                  AND message LIKE '%broken.lua:2:%no such thing%'";
    assert_eq!(bench.value(failed), Some(4));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'completed'"), Some(6));
}

/// The load of one system fails in its own trial. When a later step needs the tables, the load is repeated and
/// succeeds.
#[dyno_test]
fn tables_that_were_loaded_again_are_told_in_every_report() {
    let bench = Bench::new();
    bench.let_all_write();
    bench.write(
        "once.lua",
        "function prepare()
           local failed = io.open('failed')
           if not failed then
             io.open('failed', 'w'):close()
             error('no luck')
           end
           failed:close()
           sysbench.sql.driver():connect():query('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)')
         end
         function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT count(*) FROM t') end
",
    );
    let plan = sqlite_plan(0.1).replace("[data]\ntables = 1\nrows = 50\n", "");
    let plan = ["oltp_read_write", "oltp_point_select", "oltp_update_non_index"]
        .iter()
        .fold(plan, |plan, workload| plan.replace(workload, "once.lua"));
    bench.write("plan.toml", &plan);
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(ended.stderr.contains("error: 1 of 10 trials failed"), "{}", ended.stderr);
    let affected = "SELECT count(*) FROM trial WHERE loaded_again = '[\"load\"]' AND outcome = 'completed'
                    AND system_id = (SELECT system_id FROM trial WHERE outcome = 'failed')";
    assert_eq!(bench.value(affected), Some(4));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE loaded_again <> '[]'"), Some(4));

    let report = |format: &str| {
        bench.dyno(&["report", "--format", format, "--out", "report"]);
        fs::read_to_string(bench.path("report")).unwrap()
    };
    let words = "tables of load loaded again without measurement in 2 of 2 rounds; each measured load failed";
    for format in ["text", "markdown", "html"] {
        assert!(unwrapped(&report(format)).contains(words), "{format}: {}", report(format));
    }
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    let warnings: Vec<&Value> = json["trial_warnings"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|test| test["warnings"].as_array().unwrap())
        .filter(|warning| warning["warning"] == "loaded_again")
        .collect();
    assert_eq!(warnings.len(), 2, "one of each step: {json}");
    assert!(warnings.iter().all(|warning| warning["never_measured"] == true), "{warnings:?}");
}
