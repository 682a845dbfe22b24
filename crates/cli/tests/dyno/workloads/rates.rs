//! Figures of loads that execute nothing, or only operations that are not counted.

use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, unwrapped};

/// Runs a plan for two SQLite systems with one table of ten rows.
fn ran(rounds: u32, steps: &str) -> Bench {
    let bench = Bench::new();
    run_in(&bench, rounds, steps);
    bench
}

fn run_in(bench: &Bench, rounds: u32, steps: &str) {
    bench.write(
        "plan.toml",
        &format!(
            "name = 'few'\ntitle = 'Little to do'\nbase = 'a'\nrounds = {rounds}\nclients = [1]\nseconds = 1\n\
             warmup_seconds = 0\nrest_seconds_max = 0\n[data]\ntables = 1\nrows = 10\n\
             [[system]]\nid = 'a'\nengine = 'sqlite'\n\
             [[system]]\nid = 'b'\nengine = 'sqlite'\nsettings = {{ journal_mode = 'WAL' }}\n{steps}"
        ),
    );
    bench.let_all_write();
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
}

const LOAD: &str = "[[step]]\nid = 'load'\ngroup = 'load'\nworkload = 'oltp_read_write'\ncommand = 'prepare'\noperation = 'row'\n";

fn absolute(bench: &Bench, step: &str) -> Vec<Value> {
    let json: Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).with(0).stdout).unwrap();
    let rows = json["absolute"].as_array().unwrap();
    rows.iter().find(|row| row["step"] == step).unwrap()["cells"].as_array().unwrap().clone()
}

fn is_warned(cell: &Value, of: &str) -> bool {
    cell["warnings"].as_array().unwrap().iter().any(|warning| warning["warning"] == of)
}

/// An event is due about every three hours, so no event is due in the step's seconds.
#[dyno_test]
fn a_rate_at_which_nothing_is_due_is_no_stall_and_has_no_verdict() {
    for spacing in ["poisson", "constant"] {
        let slow = format!(
            "{LOAD}[[step]]\nid = 'slow'\ngroup = 'slow'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
             rate = 0.0001\nspacing = '{spacing}'\n"
        );
        let bench = ran(3, &slow);
        let failed: i64 = bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'").unwrap();
        assert_eq!(failed, 0, "{spacing}");
        let nothing =
            "SELECT count(*) FROM trial WHERE step_id = 'slow' AND due = 0 AND operations = 0 AND backlog = 0
                       AND gap_longest_seconds < 0.001 AND latency_sum_ns IS NULL";
        assert_eq!(bench.value(nothing), Some(6), "{spacing}");
        for cell in absolute(&bench, "slow") {
            assert_eq!(cell["operations_per_second"].as_f64(), Some(0.0), "{cell}");
            assert!(is_warned(&cell, "nothing_due"), "{cell}");
        }
        let report = unwrapped(&bench.dyno(&["report", "--full"]).with(0).stdout);
        assert!(report.contains("no event was due in 3 of 3 rounds"), "{report}");
        let compared = bench.dyno(&["compare", "--step", "slow"]).with(3);
        assert!(compared.stdout.contains("not judged: no event was due at this rate"), "{}", compared.stdout);
    }
}

/// Rows that are inserted one by one count as queries, not as rows of a bulk insert.
#[dyno_test]
fn a_load_that_counts_no_rows_has_the_rate_0_and_no_ratio() {
    let script = "function prepare() local c = sysbench.sql.driver():connect()
                    c:query('CREATE TABLE t (id INT)')
                    for i = 1, 9 do c:query('INSERT INTO t VALUES (' .. i .. ')') end
                  end
                  function cleanup() sysbench.sql.driver():connect():query('DROP TABLE IF EXISTS t') end";
    let bench = Bench::new();
    bench.write("uncounted.lua", script);
    bench.write(
        "plan.toml",
        "name = 'few'\ntitle = 'Nothing counted'\nbase = 'a'\nrounds = 3\nload = 'every-round'\nclients = [1]\n\
         seconds = 1\nrest_seconds_max = 0\n[[system]]\nid = 'a'\nengine = 'sqlite'\n[[system]]\nid = 'b'\nengine = 'sqlite'\n\
         settings = { journal_mode = 'WAL' }\n[[step]]\nid = 'load'\ngroup = 'load'\nworkload = './uncounted.lua'\n\
         command = 'prepare'\noperation = 'row'\n",
    );
    bench.let_all_write();
    bench.dyno(&["run", "plan.toml"]).with(0);
    for cell in absolute(&bench, "load") {
        assert_eq!(cell["operations_per_second"].as_f64(), Some(0.0), "{cell}");
        assert!(is_warned(&cell, "nothing_done"), "{cell}");
    }
    let compared = bench.dyno(&["compare", "--format", "json"]).with(3).stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let test = &compared["comparisons"][0]["tests"][0];
    assert_eq!((&test["ratio"], &test["rounds"]), (&Value::Null, &Value::Array(Vec::new())), "{test}");
    let (reason, gate) = (test["undecided"]["reason"].as_str(), test["gate"].as_str());
    assert_eq!((reason, gate), (Some("nothing_done"), Some("abstains")), "{test}");
}

#[dyno_test]
fn figures_of_latencies_lie_between_the_least_and_the_greatest() {
    let read = "[[step]]\nid = 'read'\ngroup = 'read'\nworkload = 'oltp_point_select'\noperation = 'query'\nslice_seconds = 'whole'\n";
    let bench = ran(1, &format!("{LOAD}{read}"));
    for table in ["trial", "sample"] {
        let bench_has =
            |sql: &str| bench.value::<i64>(&format!("SELECT count(*) FROM {table} WHERE {sql}")).unwrap();
        assert!(bench_has("latency_sum_ns > 0") > 0, "{table}");
        let in_order = "latency_min_ns / 1e3 <= latency_p50_us AND latency_p50_us <= latency_p95_us
                        AND latency_p95_us <= latency_p99_us AND latency_p99_us <= latency_max_us
                        AND latency_min_ns / 1e3 <= latency_mean_us AND latency_mean_us <= latency_max_us
                        AND latency_max_us = latency_max_ns / 1e3";
        assert_eq!(bench_has(&format!("latency_sum_ns > 0 AND NOT ({in_order})")), 0, "{table}");
    }
    // A client executes its events one after the other. Only its last event may end after the measured time.
    let longer = "SELECT count(*) FROM trial WHERE step_id = 'read' AND latency_sum_ns > seconds * 1.0001e9 + latency_max_ns";
    assert_eq!(bench.value(longer), Some(0));
    let added_up = "SELECT count(*) FROM trial t WHERE step_id = 'read' AND latency_sum_ns
                    < (SELECT sum(latency_sum_ns) FROM sample s WHERE s.trial_id = t.id)";
    assert_eq!(
        bench.value(added_up),
        Some(0),
        "seconds add up to the trial, but for an event that ended after it"
    );
}

/// The workload of the background load is a pgbench script, which gets the size of the plan's tables.
#[dyno_test]
fn a_background_load_keeps_its_rate_or_is_reported() {
    let bench = Bench::new();
    let script = "\\set id random(1, :table_size)\nUPDATE sbtest1 SET k = k + 1 WHERE id = :id;\n";
    bench.write("writes.pgbench", script);
    let step = |id: &str, per_second: u32| {
        format!(
            "[[step]]\nid = '{id}'\nworkload = 'oltp_point_select'\n[[step.background]]\nid = 'writes'\n\
             workload = 'writes.pgbench'\nclients = 1\nrate = {per_second}\noptions = {{ protocol = 'prepared' }}\n"
        )
    };
    run_in(&bench, 1, &format!("{LOAD}{}{}", step("kept", 20), step("missed", 10_000_000)));
    let done = "SELECT count(*) FROM trial WHERE step_id = 'kept.writes' AND due > 0 AND operations > 0";
    assert_eq!(bench.value(done), Some(2));
    for cell in absolute(&bench, "missed.writes") {
        assert!(is_warned(&cell, "not_sustained"), "{cell}");
    }
}
