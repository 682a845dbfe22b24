//! Verdicts, exit statuses of gates, and histories, on runs of SQLite and on synthetic results files.

use std::fs;

use dyno_store::{
    CountsRecord, Ending, HostRecord, LatencyRecord, Measured, Operation, Outcome, RunRecord, StepRecord,
    Store, SystemRecord, TrialRecord, latency_record,
};
use dyno_testing::dyno_test;
use serde_json::{Value, json};

use crate::bench::{Bench, Ended, sqlite_plan, unwrapped};

/// Adds a run of a plan with eight rounds. `systems` has each system's id, and its rate in each step.
fn add_run(bench: &Bench, plan: &str, systems: &[(&str, &[f64])]) {
    add_run_of(bench, plan, systems, 8);
}

pub(crate) fn add_run_of(bench: &Bench, plan: &str, systems: &[(&str, &[f64])], rounds: u32) {
    let mut store = Store::open(&bench.path("dyno.db")).unwrap();
    let record = RunRecord {
        plan_name: plan.to_owned(),
        host: HostRecord { cpus: Some(2), ..HostRecord::default() },
        scale: 1.0,
        ..RunRecord::default()
    };
    let run = store.create_run(&record).unwrap();
    for (position, (id, _)) in (0..).zip(systems) {
        let system = SystemRecord {
            id: (*id).to_owned(),
            name: "sqlite".to_owned(),
            position,
            is_base: position == 0,
            requested_settings: json!({}),
            ..SystemRecord::default()
        };
        store.put_system(run, &system).unwrap();
    }
    let steps = systems[0].1.len();
    for at in 0..steps {
        let step = StepRecord {
            id: format!("step{at}"),
            group: "reads".to_owned(),
            position: at as u32,
            command: "run".to_owned(),
            operation: Operation::Query,
            clients: vec![4],
            rounds,
            seconds: Some(10.0),
            options: json!({}),
            ..StepRecord::default()
        };
        store.add_step(run, &step).unwrap();
        for number in 0..rounds {
            for (id, rates) in systems {
                store.commit_trial(run, &trial(id, &step.id, number, rates[at])).unwrap();
            }
        }
    }
    store.finish_run(run, Ending::Finished, 0).unwrap();
}

/// A trial within half a percent of its rate, or a failed trial if the rate is 0.
fn trial(system: &str, step: &str, number: u32, rate: f64) -> TrialRecord {
    let noise = 1.0 + f64::from((number * 7 + system.len() as u32 * 3) % 5) / 1000.0;
    let operations = (rate * noise * 10.0) as u64;
    let measured = Measured {
        seconds: 10.0,
        counts: CountsRecord { operations, events: operations, ..CountsRecord::default() },
        due: None,
        latency: LatencyRecord::default(),
    };
    TrialRecord {
        system_id: system.to_owned(),
        step_id: step.to_owned(),
        clients: 4,
        round: number,
        outcome: match operations {
            0 => Outcome::failed("it died"),
            _ => Outcome::Completed,
        },
        measured: (operations > 0).then_some(measured),
        ..TrialRecord::default()
    }
}

fn compare(bench: &Bench, arguments: &[&str]) -> Ended {
    bench.dyno(&[&["compare"], arguments].concat())
}

#[dyno_test]
fn a_run_of_sqlite_is_judged() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.05));
    assert_eq!(bench.dyno(&["run", "plan.toml"]).status, Some(0));
    let ended = compare(&bench, &["rollback", "wal"]);
    assert_eq!(ended.status, Some(3), "two rounds are never enough: {}", ended.stdout);
    assert!(ended.stdout.contains("wal against rollback"), "{}", ended.stdout);
    // The noise of the two systems determines how many rounds are needed. The number may be too large to estimate.
    assert!(ended.stdout.starts_with("Not enough evidence"), "{}", ended.stdout);
    let counts = "Of 3 tests: 2 without enough evidence, 1 not judged.";
    assert!(ended.stdout.contains(counts), "{}", ended.stdout);
}

#[dyno_test]
fn the_exit_status_is_the_verdict() {
    for (rates, status, words) in [
        ([1000.0, 1000.0], 0, "Nothing regressed."),
        ([1000.0, 1300.0], 0, "Of 2 tests: 1 improved, 1 the same."),
        ([1000.0, 900.0], 1, "step1 at 4 clients, 0.90"),
        ([1000.0, 0.0], 1, "Of 2 tests: 1 failed, 1 the same."),
        ([1000.0, 1019.0], 0, "without enough evidence"),
        ([1000.0, 981.0], 3, "Not enough evidence: it takes about"),
    ] {
        let bench = Bench::new();
        add_run(&bench, "gate", &[("old", &[1000.0, 1000.0]), ("newer", &rates)]);
        let ended = compare(&bench, &["old", "newer"]);
        assert_eq!(ended.status, Some(status), "{rates:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(words), "{rates:?}: {}", ended.stdout);
    }
}

#[dyno_test]
fn runs_of_one_plan_are_compared_with_each_other() {
    let bench = Bench::new();
    add_run(&bench, "nightly", &[("db", &[1000.0])]);
    add_run(&bench, "nightly", &[("db", &[900.0])]);
    let ended = compare(&bench, &["1", "2"]).with(3);
    assert!(ended.stdout.contains("db of run 2 against db of run 1"), "{}", ended.stdout);
    assert!(ended.stdout.starts_with("Not decided: each side has only one session."), "{}", ended.stdout);
    for rate in [901.0, 1001.0, 1002.0, 902.0, 903.0, 1003.0, 1004.0, 904.0, 905.0, 1005.0] {
        add_run(&bench, "nightly", &[("db", &[rate])]);
    }
    let ended = compare(&bench, &["1,4,5,8,9,12", "2,3,6,7,10,11"]).with(1);
    let title = "db of runs 2, 3, 6, 7, 10, 11 against db of runs 1, 4, 5, 8, 9, 12";
    assert!(ended.stdout.contains(title), "{}", ended.stdout);
    assert_eq!(compare(&bench, &["2,3,6,7,10,11:db", "1,4,5,8,9,12:db"]).status, Some(0));
    let few = compare(&bench, &["1,4,5", "2,3,6"]).with(3);
    assert!(few.stdout.contains("it needs 6 sessions per side, in turns"), "{}", few.stdout);
    let apart = compare(&bench, &["1,2,3,4,5,6", "7,8,9,10,11,12"]).with(3);
    let why = "sessions must alternate (A B B A): these form 1 pair of neighbours of the 6";
    assert!(unwrapped(&apart.stdout).contains(why), "{}", apart.stdout);
    let twice = compare(&bench, &["1,3", "3,4"]).with(2);
    assert!(twice.stderr.contains("run 3 cannot be compared with itself"), "{}", twice.stderr);
}

#[dyno_test]
fn runs_with_one_anchor_are_compared_by_it() {
    let bench = Bench::new();
    // From the second night on, the host is 10% slower. In the third night, the build is another 5% slower.
    add_run(&bench, "nightly", &[("pinned", &[1000.0]), ("build", &[1000.0])]);
    add_run(&bench, "nightly", &[("pinned", &[900.0]), ("build", &[900.0])]);
    add_run(&bench, "nightly", &[("pinned", &[900.0]), ("build", &[855.0])]);
    assert_eq!(compare(&bench, &["1", "2"]).status, Some(3));
    let results = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    results.execute("UPDATE system SET is_anchor = 1 WHERE id = 'pinned'", []).unwrap();
    assert_eq!(compare(&bench, &["1", "2"]).status, Some(0));
    let ended = compare(&bench, &["1", "3"]).with(1);
    assert!(ended.stdout.contains("build of run 3 against build of run 1"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("pinned of run 3"), "the anchor is no candidate: {}", ended.stdout);
}

#[dyno_test]
fn every_format_says_the_same() {
    let bench = Bench::new();
    add_run(&bench, "gate", &[("old", &[1000.0, 1000.0]), ("new", &[1000.0, 900.0])]);
    let json: Value = serde_json::from_str(&compare(&bench, &["--format", "json"]).stdout).unwrap();
    assert_eq!(json["outcome"], "some_regressed");
    assert_eq!(json["comparisons"][0]["tests"][1]["finding"], "regressed");

    let junit = compare(&bench, &["old", "new", "--format", "junit", "--out", "verdict.xml"]);
    assert_eq!((junit.status, junit.stdout.as_str()), (Some(1), ""));
    let xml = fs::read_to_string(bench.path("verdict.xml")).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{xml}");

    bench.write("summary.md", "# Job\n");
    let mut command = bench.command(&["compare", "--github-summary"]);
    Ended::from(command.env("GITHUB_STEP_SUMMARY", bench.path("summary.md")).output().unwrap()).with(1);
    let summary = fs::read_to_string(bench.path("summary.md")).unwrap();
    assert!(summary.starts_with("# Job\n# Regressed.\n"), "{summary}");
    assert!(summary.contains("**regressed**"), "{summary}");

    add_run(&bench, "open", &[("old", &[1000.0, 1000.0]), ("newer", &[1000.0, 981.0])]);
    let open = compare(&bench, &["--format", "junit"]).with(3);
    assert!(open.stdout.contains("tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\""), "{}", open.stdout);
    assert!(open.stdout.contains("<error message=\"not enough evidence: "), "{}", open.stdout);
    add_run(&bench, "equal", &[("old", &[1000.0, 1000.0]), ("new", &[1000.0, 1000.0])]);
    let equal = compare(&bench, &["--format", "junit"]).with(0);
    assert!(
        equal.stdout.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"0\""),
        "{}",
        equal.stdout
    );
}

#[dyno_test]
fn what_cannot_be_compared_is_told_apart_from_a_regression() {
    let bench = Bench::new();
    let cases: [(&[&str], &str); 12] = [
        (&["old", "new"], "error: dyno.db: no such results file"),
        (&["old", "nwe"], "error: run 2 has no system `nwe`; it has old, new"),
        (&["old", "old"], "cannot be compared with itself"),
        (&["old", "new", "--run", "9"], "dyno.db: has no run 9"),
        (&["1", "new"], "cannot compare a run with a system"),
        (&["1", "2"], "are of different plans, other and gate"),
        (&["1"], "run 1 has no system besides db"),
        (&["--step", "stop"], "run 2 has no step `stop`; it has step0"),
        (&["--noise", "x=old"], "run 2 has no system `x`"),
        (&["--margin", "two"], "must be a percentage"),
        (&["--out", "none/verdict.txt"], "cannot write none/verdict.txt"),
        (&["--github-summary"], "$GITHUB_STEP_SUMMARY is not set"),
    ];
    for (at, (arguments, words)) in cases.into_iter().enumerate() {
        if at == 1 {
            add_run(&bench, "other", &[("db", &[1000.0])]);
            add_run(&bench, "gate", &[("old", &[1000.0]), ("new", &[1000.0])]);
        }
        let mut command = bench.command(&[&["compare"], arguments].concat());
        let ended: Ended = command.env_remove("GITHUB_STEP_SUMMARY").output().unwrap().into();
        assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

#[dyno_test]
fn the_margin_and_the_steps_are_the_users() {
    let bench = Bench::new();
    add_run(&bench, "gate", &[("old", &[1000.0, 1000.0]), ("new", &[900.0, 1000.0])]);
    let status = |arguments: &[&str]| compare(&bench, arguments).status;
    assert_eq!(status(&[]), Some(1));
    assert_eq!(status(&["--margin", "20%"]), Some(0));
    assert_eq!(status(&["--step", "step1"]), Some(0));
    // If noise is as large as the difference, no regression is reported, and the verdict is not `same` either.
    assert_eq!(status(&["--noise", "new=old"]), Some(3));
    assert_eq!(status(&["--quantity", "p95_us"]), Some(3));
}

/// Sets the latencies of a system's trials. In each hundred, five latencies are `long_us` or slightly more.
fn set_latencies(bench: &Bench, system: &str, long_us: u64) {
    let results = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    for round in 0..8_u64 {
        let all = (0..1000).map(|at| if at % 20 == 0 { long_us + 100 * round + at } else { 1000 });
        let latencies = latency_record(all);
        let sql = "UPDATE trial SET latency = ?1 WHERE system_id = ?2 AND round = ?3";
        results.execute(sql, (latencies.histogram, system, round)).unwrap();
    }
}

#[dyno_test]
fn a_latency_is_judged_as_throughput_is() {
    let bench = Bench::new();
    add_run(&bench, "gate", &[("old", &[1000.0]), ("new", &[1000.0])]);
    set_latencies(&bench, "old", 20_000);
    set_latencies(&bench, "new", 40_000);
    assert_eq!(compare(&bench, &[]).status, Some(0), "throughput stays the default");
    let slower = compare(&bench, &["--quantity", "p99"]).with(1);
    assert!(
        slower.stdout.contains("p99") && slower.stdout.contains("step0 at 4 clients"),
        "{}",
        slower.stdout
    );
    let json = compare(&bench, &["new", "old", "--quantity", "p99_us", "--format", "json"]).with(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["comparisons"][0]["tests"][0]["finding"], "improved", "less is better: {json}");
    assert_eq!(compare(&bench, &["--quantity", "p50"]).status, Some(0), "the median is the same");
    let unknown = compare(&bench, &["--quantity", "p90"]).with(2);
    assert!(unknown.stderr.contains("must be one of throughput, "), "{}", unknown.stderr);
}

#[dyno_test]
fn a_history_names_the_run_at_which_it_changed() {
    let bench = Bench::new();
    for run in 0..14 {
        let rate = if run < 7 { 1000.0 } else { 930.0 };
        add_run_of(&bench, "nightly", &[("db", &[rate + f64::from(run % 3)])], 1);
    }
    let ended = bench.dyno(&["history", "nightly"]).with(0);
    let told = ended.stdout.lines().nth(1);
    assert_eq!(told, Some("Over 14 runs, 1 of 1 test changes in throughput."), "{}", ended.stdout);
    assert!(ended.stdout.contains("With run 8: 0.93 times the level before"), "{}", ended.stdout);
    let small = bench.dyno(&["history", "nightly", "--change-min", "10"]);
    assert!(small.stdout.contains("No change of level."), "{}", small.stdout);
    let gate = bench.dyno(&["history", "nightly", "--gate"]);
    assert_eq!((gate.status, &gate.stdout), (Some(1), &ended.stdout));
    assert!(
        gate.stderr
            .starts_with("regressed: db: step0 at 4 clients, with run 8: 0.93 times the level before (p 0.0"),
        "{}",
        gate.stderr
    );
    assert_eq!(gate.stderr.lines().count(), 1);
    let later = bench.dyno(&["history", "nightly", "--gate", "6"]);
    assert_eq!((later.status, later.stderr.as_str()), (Some(0), ""));
    let small = bench.dyno(&["history", "nightly", "--gate", "--change-min", "10"]);
    assert_eq!((small.status, small.stderr.as_str()), (Some(0), ""));
    let ended = bench.dyno(&["history", "weekly"]).with(1);
    assert!(ended.stderr.contains("has no run of a plan weekly; it has runs of nightly"), "{}", ended.stderr);
    assert_eq!(bench.dyno(&["history", "nightly", "--step", "x"]).status, Some(1));
    assert_eq!(bench.dyno(&["history", "nightly", "--gate", "0"]).status, Some(2));
    // The newest run measured nothing, so nothing can be judged.
    add_run_of(&bench, "nightly", &[("db", &[0.0])], 1);
    let ended = bench.dyno(&["history", "nightly", "--gate"]).with(2);
    assert!(ended.stderr.contains("the newest run of the plan nightly has no figure"), "{}", ended.stderr);
}
