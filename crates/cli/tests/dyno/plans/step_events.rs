//! Events of steps on real servers: the load continues, and the events are recorded and reported.

use std::fs;

use dyno_engine::Installation;
use dyno_engine::testing::{confined, named_engines, with_engine};
use dyno_host::Confinement;
use dyno_testing::dyno_test;
use rusqlite::Connection;
use serde_json::Value;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, unwrapped};

const MARIADB: &str = "mariadb@10.11";
const POSTGRES: &str = "postgres@18.4";

/// A plan of systems that load a table of 1000 rows, then run steps.
fn plan(systems: &[(&str, &str)], rounds: u32, steps: &str) -> String {
    let system = |(id, engine): &(&str, &str)| {
        format!("[[system]]\nid = '{id}'\nengine = '{engine}'\nprofile = 'lean.toml'\n")
    };
    let systems = systems.iter().map(system).collect::<Vec<_>>().concat();
    format!(
        "name = 'events'\ntitle = 'Events'\nbase = 'a'\nrounds = {rounds}\nclients = [4]\nseconds = 1\n\
         warmup_seconds = 0.2\nwarmup_seconds_max = 0\nrest_seconds_max = 0\n\
         [data]\ntables = 1\nrows = 1000\n{systems}\
         [[step]]\nid = 'load'\nworkload = 'oltp_read_write'\ncommand = 'prepare'\n{steps}"
    )
}

/// A step of updates with an event.
fn step(id: &str, seconds: f64, event: &str) -> String {
    format!(
        "[[step]]\nid = '{id}'\nworkload = 'oltp_update_non_index'\nseconds = {seconds}\n\
         [[step.event]]\n{event}\n"
    )
}

fn bench(plan: &str) -> Bench {
    let bench = Bench::new();
    bench.write_lean_profiles();
    bench.write("plan.toml", plan);
    bench
}

/// The value of a column for the trial of a step.
fn of_trial<T: rusqlite::types::FromSql>(bench: &Bench, column: &str, step: &str) -> T {
    let sql = format!("SELECT {column} FROM trial WHERE step_id = '{step}'");
    bench.value(&sql).unwrap_or_else(|| panic!("no {column} of {step}"))
}

/// The event of a step: when it began and ended, and its outcome.
fn event(bench: &Bench, step: &str) -> (f64, f64, String) {
    let of = |column: &str| {
        format!(
            "SELECT e.{column} FROM step_event e JOIN trial ON trial.id = trial_id WHERE step_id = '{step}'"
        )
    };
    let (began, ended) = (bench.value(&of("began_seconds")), bench.value(&of("ended_seconds")));
    (began.unwrap(), ended.unwrap(), bench.value(&of("outcome")).unwrap())
}

/// The longest time in a step in which no transaction finished, as its start and end.
fn longest_gap(bench: &Bench, step: &str) -> (f64, f64) {
    let file = Connection::open(bench.path("dyno.db")).unwrap();
    let sql = "SELECT bins FROM timeline JOIN trial ON trial.id = trial_id WHERE step_id = ?1";
    let bytes: Vec<u8> = file.query_row(sql, [step], |row| row.get(0)).unwrap();
    let bins: Vec<u32> = bytes.chunks(4).map(|bin| u32::from_le_bytes(bin.try_into().unwrap())).collect();
    let gaps =
        bins.iter().enumerate().filter(|(_, events)| **events > 0).map(|(at, _)| at).collect::<Vec<_>>();
    let gap = gaps.windows(2).max_by_key(|pair| pair[1] - pair[0]).expect("transactions");
    (gap[0] as f64 * 0.01, gap[1] as f64 * 0.01)
}

#[dyno_test(named_engines(&[MARIADB, POSTGRES]))]
fn a_load_goes_on_through_events(_: &Installation, engine: &str) {
    let alter = "ALTER TABLE sbtest1 ADD COLUMN extra INT";
    let steps = [
        step("stop", 5.0, "at_seconds = 1.5\nstop_seconds = 1"),
        step("kill", 5.0, "at_seconds = 1.5\nkill = 'server'\nuntil = 'done'"),
        step("restart", 4.0, "at_seconds = 1.5\nrestart = 'server'\nuntil = 'done'"),
        step("alter", 3.0, &format!("id = 'column'\nat_seconds = 1.2\nsql = '{alter}'\nuntil = 'done'")),
        step("storm", 3.0, "at_seconds = 1.2\nconnections = 30\nuntil = 'done'"),
        step("idle", 3.0, "at_seconds = 1.2\nidle_transaction_seconds = 0.5\nuntil = 'done'"),
        step(
            "command",
            3.0,
            "at_seconds = 1.2\ncommand = 'test -e \"$DYNO_SOCKET\" || test -n \"$DYNO_SOCKET\"'",
        ),
        step("cut", 2.0, "at_seconds = 1.2\ncommand = 'sleep 100'"),
        step("rate", 4.0, "at_seconds = 1.5\nstop_seconds = 1")
            .replace("seconds = 4", "rate = 50\nseconds = 4"),
        "[[step]]\nid = 'calm'\nworkload = 'oltp_point_select'\n".to_owned(),
    ];
    let bench = bench(&plan(&[("a", engine)], 1, &steps.concat()));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let failed: i64 = bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'").unwrap();
    assert_eq!(failed, 0);

    let (began, ended, outcome) = event(&bench, "stop");
    assert_eq!(outcome, "done");
    assert!(began >= 1.5 && ended - began >= 1.0, "{began} {ended}");
    let (from, to) = longest_gap(&bench, "stop");
    assert!(from < ended && from > began - 1.0 && to > ended - 0.05, "{from} {to}: {began} {ended}");
    assert!(to - from > 0.9, "{from} {to}");
    assert_eq!(of_trial::<i64>(&bench, "failed", "stop"), 0, "no connection was lost");

    for id in ["kill", "restart"] {
        let (began, ended, outcome) = event(&bench, id);
        assert_eq!((outcome.as_str(), ended > began), ("done", true), "{id}");
        assert!(of_trial::<i64>(&bench, "reconnects", id) >= 4, "{id}: each of the clients");
        let (from, to) = longest_gap(&bench, id);
        assert!(from < ended && to > began, "{id}: {from} {to}: {began} {ended}");
    }
    // Four clients update all the time, so some are in a transaction at the kill.
    assert!(of_trial::<i64>(&bench, "failed", "kill") >= 1);
    let codes: String = of_trial(&bench, "error_codes", "kill");
    assert_ne!(codes, "{}");
    for id in ["alter", "storm", "idle", "command"] {
        assert_eq!(event(&bench, id).2, "done", "{id}");
    }
    assert!(event(&bench, "idle").1 - event(&bench, "idle").0 >= 0.5);
    assert_eq!(event(&bench, "cut").2, "cut");
    let slowest_us: f64 = of_trial(&bench, "latency_max_us", "rate");
    assert!(slowest_us > 900_000.0, "{slowest_us}: who was due during the outage has waited for its end");
    reports_have_the_events(&bench, alter);
}

/// The disk's latency can be changed, and is 0 at first.
fn changeable_disk() -> Confinement {
    Confinement { latency_us: Some(0), volume_bytes: Some(512 << 20), ..Confinement::default() }
}

#[dyno_test(confined(&[MARIADB], changeable_disk))]
fn a_disk_is_slow_for_the_time_of_an_event(_: &Installation, _: &str) {
    let slow = "at_seconds = 1.5\ndisk_latency_ms = 300\nhold_seconds = 1";
    let steps = [step("calm", 2.0, "at_seconds = 1\nsql = 'SELECT 1'"), step("slow", 4.0, slow)].concat();
    let durable = "profile = 'lean.toml'\nconfinement = { latency_ms = 0, volume = '512M' }\n\
                   settings = { innodb_flush_log_at_trx_commit = 1 }";
    let text = plan(&[("a", MARIADB)], 1, &steps);
    let bench = bench(&text.replacen("profile = 'lean.toml'", durable, 1));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let (began, ended, outcome) = event(&bench, "slow");
    assert!(outcome == "done" && ended - began >= 1.0, "{outcome} {began} {ended}");
    let slowest_us: f64 = of_trial(&bench, "latency_max_us", "slow");
    assert!(slowest_us >= 300_000.0, "{slowest_us}: a commit waits for the disk");
    let differences: String = of_trial(&bench, "json_extract(limits, '$.differences')", "slow");
    assert_eq!(differences, "[]", "the disk has its own latency again");
    let text = unwrapped(&bench.dyno(&["report", "--full"]).stdout);
    assert!(text.contains("each request to the disk takes 300 ms"), "{text}");
}

fn reports_have_the_events(bench: &Bench, alter: &str) {
    let text = unwrapped(&bench.dyno(&["report", "--full"]).stdout);
    assert!(text.contains("Events: how they affected the throughput"), "{text}");
    assert!(text.contains(&format!("column, at 1.2 s: {alter}")), "{text}");
    let cut =
        "command of cut with 4 clients: still ran at the end of the step, and was ended, in 1 round of a";
    assert!(text.contains(cut), "{text}");
    let json: Value = serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let tests = json["events"].as_array().unwrap();
    let stop = tests.iter().find(|test| test["step"] == "stop").unwrap();
    let figures = &stop["systems"][0]["events"][0]["figures"];
    let outage = figures["outage_seconds"]["median"].as_f64().unwrap();
    assert!(outage > 0.9, "{figures}");
    assert!(figures["depth"]["median"].as_f64().unwrap() > 0.5, "{figures}");
    let page = bench.dyno(&["report", "--format", "html", "--out", "-"]).with(0).stdout;
    assert!(page.contains("99th percentile of latency in ms over seconds"));
}

#[dyno_test(with_engine(MARIADB))]
fn events_that_fail_fail_their_trial() {
    let steps = [
        step("sql", 3.0, "at_seconds = 0.5\nsql = 'ALTER TABLE nothing ADD x INT'"),
        step("command", 3.0, "at_seconds = 0.5\ncommand = 'no-such-program'"),
        step("endless", 3.0, "at_seconds = 0.5\ncommand = 'sleep 100'\nuntil = 'done'\nlimit_seconds = 1"),
        step(
            "endless-sql",
            3.0,
            "at_seconds = 0.5\nsql = 'SELECT SLEEP(100)'\nuntil = 'done'\nlimit_seconds = 1",
        ),
        step("storm", 3.0, "at_seconds = 0.5\nconnections = 1000"),
        // If the endless statement still runs, the subquery of this statement has two rows, so this statement fails.
        step(
            "none-left",
            3.0,
            "at_seconds = 0.5\nsql = \"SELECT (SELECT 1 UNION SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%')\"",
        ),
        "[[step]]\nid = 'calm'\nworkload = 'oltp_point_select'\n".to_owned(),
    ];
    let bench = bench(&plan(&[("a", MARIADB)], 1, &steps.concat()));
    let ended = bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(1);
    for (step, told) in [
        ("sql", "event `sql` failed: "),
        ("sql", "nothing"),
        ("command", "event `command` failed: `no-such-program` failed (exit status: 127)"),
        ("endless", "took longer than 1 s and was ended"),
        ("endless-sql", "it took longer than `limit_seconds` = 1, and was ended"),
        ("storm", "event `connections` failed: "),
    ] {
        let message: String = of_trial(&bench, "message", step);
        assert!(message.contains(told), "{step}: {message}\n{}", ended.stderr);
        assert_eq!(event(&bench, step).2, "failed", "{step}");
    }
    assert_eq!(of_trial::<String>(&bench, "outcome", "calm"), "completed", "the server is well");
    assert_eq!(event(&bench, "none-left").2, "done");
    let text = unwrapped(&bench.dyno(&["report", "--full"]).stdout);
    assert!(text.contains("command of command with 4 clients: failed on a: `no-such-program`"), "{text}");
}

#[dyno_test(with_engine(MARIADB))]
fn a_stopped_run_leaves_no_stopped_server() {
    let steps = step("stop", 300.0, "at_seconds = 0.5\nstop_seconds = 200");
    let bench = bench(&plan(&[("a", MARIADB)], 1, &steps));
    let dyno = bench.start_until(&["run", "plan.toml"], 1);
    let is_stopped = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    eventually("a server that is stopped", || bench.servers().iter().any(is_stopped));
    press_ctrl_c(&dyno);
    finish(dyno).with(130);
    eventually("the end of every process", || bench.servers().is_empty() && bench.processes().is_empty());
    assert_eq!(bench.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

/// One system is stopped for longer than the other. The plan sets both times, so the machine's speed does not
/// matter.
#[dyno_test(with_engine(MARIADB))]
fn events_of_several_rounds_are_compared() {
    let stop = |id: &str, seconds: f64| {
        format!("[[step.event]]\nid = '{id}'\nat_seconds = 1.5\nstop_seconds = {seconds}\n")
    };
    let steps =
        format!("[[step]]\nid = 'stop'\nworkload = 'oltp_point_select'\nseconds = 4\n{}", stop("short", 0.5));
    let bench = bench(&plan(&[("a", MARIADB), ("b", MARIADB)], 2, &steps));
    bench.dyno(&["run", "plan.toml", "--seed", "7"]).with(0);
    let json: Value = serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let [_, b] = json["events"][0]["systems"].as_array().unwrap().as_slice() else { panic!("{json}") };
    let outage = &b["events"][0]["figures"]["outage_seconds"];
    assert_eq!(outage["rounds"].as_array().unwrap().len(), 2, "{outage}");
    assert_eq!(outage["against_base"]["finding"], "not_enough_evidence", "two rounds: {outage}");
    assert_eq!(json["events"][0]["events"][0]["id"], "short");
}

#[dyno_test]
fn what_is_wrong_with_an_event_is_refused_before_anything_runs() {
    for (event, told) in [
        (
            "at_seconds = 5\nsql = 'x'",
            "plan.toml:26:14: `at_seconds` must be below 3, at which the step ends",
        ),
        ("at_seconds = 1", "plan.toml:25:1: an event needs a key that says what it does"),
        (
            "at_seconds = 1\nsql = 'x'\nafter_seconds = 2",
            "plan.toml:28:17: `after_seconds` needs `until = \"done\"`",
        ),
        ("at_seconds = 1\nkill = 'server'", "system `a` cannot be killed: it runs in the load process"),
    ] {
        let bench = bench(&plan(&[("a", "sqlite")], 1, &step("x", 3.0, event)));
        let ended = bench.dyno(&["run", "plan.toml"]).with(2);
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        assert_eq!(bench.count("run"), 0);
    }
}
