//! Keys of plans, tested by the results of runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended, sqlite_plan, unwrapped};

/// A folder with the tiny plan, in which `new` replaces `old`.
fn bench_with(old: &str, new: &str) -> Bench {
    let plan = sqlite_plan(0.1);
    assert!(plan.contains(old), "{old}");
    let bench = Bench::new();
    bench.write("plan.toml", &plan.replacen(old, new, 1));
    bench
}

/// Makes the folder as [`bench_with`] does, and runs the plan.
fn run_with(old: &str, new: &str, arguments: &[&str]) -> Bench {
    let bench = bench_with(old, new);
    bench.dyno(&[&["run", "plan.toml"], arguments].concat()).with(0);
    bench
}

#[dyno_test]
fn an_outline_names_everything_and_runs_nothing() {
    let bench = bench_with("rounds = 2", "rounds = 2\naa_control = true");
    let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0);
    for words in ["rollback.control", "point-query", "15 trials", "of disk"] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    assert!(!bench.path("dyno.db").exists());
}

#[dyno_test]
fn an_outline_names_the_code_that_a_plan_brings() {
    let hooks = "[[step]]\nbefore = \"touch ran\"\nafter = \"false\"\nid = \"point-query\"";
    let plan = sqlite_plan(0.1).replacen("[[step]]\nid = \"point-query\"", hooks, 1);
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &plan.replacen("workload = \"oltp_point_select\"", "workload = \"./mine.lua\"", 1),
    );
    bench.write("mine.lua", "os.execute('touch ran') function event() end");
    let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0);
    for line in ["  script    ./mine.lua\n", "  before    touch ran\n", "  after     false\n"] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    assert!(!bench.path("ran").exists());
}

#[dyno_test]
fn an_outline_takes_the_longest_names_and_refuses_longer_ones() {
    let with_name = |length: usize| {
        let long = "w".repeat(length);
        let bench = bench_with("id = \"wal\"", &format!("id = \"{long}\""));
        (bench.dyno(&["run", "plan.toml", "--dry-run"]), long)
    };
    let (ended, long) = with_name(1000);
    let ended = ended.with(0);
    assert!(ended.stdout.contains(&format!("  {long} sqlite")), "{}", ended.stdout);
    let refused = with_name(1 << 17).0.with(2).stderr;
    assert!(
        refused.contains("the id of a system has 131072 bytes, more than 1000"),
        "{} bytes",
        refused.len()
    );
}

#[dyno_test]
fn an_outline_finds_scripts_and_options_that_cannot_be() {
    let workload = "workload = \"oltp_point_select\"";
    let with_options = |options: &str| format!("{workload}\noptions = {{ {options} }}");
    for (new, words) in [
        (
            with_options("table_sizes = 5"),
            "step `point-query`: oltp_point_select has no option 'table_sizes'",
        ),
        (
            with_options("rand_pareto_h = 0"),
            "step `point-query`: option --rand-pareto-h takes a number above 0",
        ),
        ("workload = \"./mine.lua\"".to_owned(), "step `point-query`: ./mine.lua:1: "),
    ] {
        let bench = Bench::new();
        bench.write("plan.toml", &sqlite_plan(0.1).replacen(workload, &new, 1));
        bench.write("mine.lua", "os.execute('touch ran') function event( end");
        let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(2);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
        assert!(!bench.path("ran").exists());
    }
}

#[dyno_test]
fn an_outline_asks_no_build_for_its_version() {
    let bench = Bench::new();
    bench.write("ran.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/../../ran\"\n");
    fs::create_dir_all(bench.path("build/bin")).unwrap();
    fs::rename(bench.path("ran.sh"), bench.path("build/bin/mysqld")).unwrap();
    fs::set_permissions(bench.path("build/bin/mysqld"), fs::Permissions::from_mode(0o755)).unwrap();
    let system = "[[system]]\nid = \"mine\"\nbasedir = \"build\"\nprofile = \"like-56\"\n\n[[step]]";
    bench.write("plan.toml", &sqlite_plan(0.1).replacen("[[step]]", system, 1));
    let ended = bench.dyno(&["run", "plan.toml", "--dry-run"]).with(0);
    assert!(ended.stdout.contains("mysql@?"), "{}", ended.stdout);
    assert!(!bench.path("ran").exists());
    // The build writes the file when it is started. A run starts the build to get its version.
    bench.let_all_write();
    let asked = bench.dyno(&["run", "plan.toml"]).with(2);
    assert!(bench.path("ran").exists(), "{}", asked.stderr);
}

#[dyno_test]
fn a_scale_changes_rows_and_seconds() {
    let bench = run_with("[data]", "[scale]\ntenth = 0.1\n[data]", &["--scale", "tenth", "--rounds", "1"]);
    assert_eq!(bench.value("SELECT DISTINCT operations FROM trial WHERE step_id = 'load'"), Some(5));
    assert_eq!(bench.value("SELECT scale FROM run"), Some(0.1));
    let unknown = bench.dyno(&["run", "plan.toml", "--scale", "tent"]).with(2);
    assert!(unknown.stderr.contains("did you mean `tenth`?"), "{}", unknown.stderr);
}

#[dyno_test]
fn only_some_steps_may_be_run() {
    let bench = run_with("", "", &["--only", "write*", "--rounds", "1"]);
    let steps = "SELECT group_concat(DISTINCT step_id) FROM (SELECT step_id FROM trial ORDER BY position)";
    assert_eq!(bench.value(steps), Some("load,update".to_owned()));
}

#[dyno_test]
fn a_background_load_is_measured_too() {
    let background = "operation = \"query\"\n[[step.background]]\nid = \"readers\"\nworkload = \"oltp_point_select\"\n\
                  operation = \"query\"\nclients = 2\n";
    let bench = run_with("operation = \"query\"\n", background, &["--rounds", "1", "--seconds", "2.5"]);
    let both = "SELECT count(*) FROM trial WHERE step_id IN ('point-query', 'point-query.readers')
                AND outcome = 'completed' AND operations > 0";
    assert_eq!(bench.value(both), Some(4));
    assert_eq!(
        bench.value("SELECT background_of FROM step WHERE id = 'point-query.readers'"),
        Some("point-query".to_owned())
    );
    assert!(bench.processes().is_empty());
}

#[dyno_test]
fn clients_of_a_background_load_join_and_reports_tell_what_they_cost() {
    let background = "operation = \"query\"\nseconds = 6\n[[step.background]]\nid = \"readers\"\n\
                      workload = \"oltp_point_select\"\noperation = \"query\"\n\
                      clients = [{ at_seconds = 2, clients = 1 }, { at_seconds = 4, clients = 3 }]\n";
    let bench = run_with("operation = \"query\"\n", background, &["--rounds", "1", "--only", "point-query"]);
    assert_eq!(
        bench.value("SELECT joins FROM step WHERE id = 'point-query.readers'"),
        Some(r#"[{"at_seconds":2.0,"clients":1},{"at_seconds":4.0,"clients":3}]"#.to_owned())
    );
    let seconds =
        "SELECT group_concat(DISTINCT seconds) FROM (SELECT count(*) AS seconds FROM trial JOIN sample
                   ON trial_id = trial.id WHERE step_id = 'point-query.readers' GROUP BY trial.id)";
    assert_eq!(bench.value(seconds), Some("6".to_owned()), "those of the step's own workload");
    let report = bench.dyno(&["report", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    let joined = &report["joined"][0];
    assert_eq!(
        (&joined["step"], &joined["background"]),
        (&"point-query".into(), &"point-query.readers".into())
    );
    for system in joined["systems"].as_array().expect("systems") {
        let stretches = system["stretches"].as_array().expect("stretches");
        let clients: Vec<_> = stretches.iter().map(|stretch| stretch["joined"].as_u64()).collect();
        assert_eq!(clients, [Some(0), Some(1), Some(3)]);
        assert!(stretches.iter().all(|stretch| stretch["rate"].as_f64() > Some(0.0)), "{system}");
        assert!(stretches[2]["background_rate"].as_f64() > Some(0.0), "{system}");
        assert!(stretches[2]["kept"]["ratio"].as_f64() > Some(0.0), "{system}");
    }
    let text = bench.dyno(&["report", "--full"]).stdout;
    assert!(text.contains("point-query: multiple of that without point-query.readers"), "{text}");
    assert!(bench.processes().is_empty());
}

#[dyno_test]
fn a_step_that_is_not_for_a_system_is_no_failure() {
    let bench = run_with("operation = \"query\"\n", "operation = \"query\"\nnot_for = [\"wal\"]\n", &[]);
    assert_eq!(
        bench.value("SELECT group_concat(DISTINCT system_id) FROM trial WHERE step_id = 'point-query'"),
        Some("rollback".to_owned())
    );
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
    let report = bench.dyno(&["report", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(report["run"]["trials_planned"], report["run"]["trials_completed"]);
    let rows = report["relative"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["step"] == "point-query").expect("the step's row");
    let cell = |system: &str| {
        row["cells"].as_array()?.iter().find(|cell| cell["system"] == system)?["state"].as_str()
    };
    assert_eq!((cell("rollback"), cell("wal")), (Some("measured"), Some("unplanned")));
    let resumed = bench.dyno(&["run", "plan.toml", "--resume"]);
    assert!(resumed.stderr.contains("run 1 is complete"), "{}", resumed.stderr);
}

#[dyno_test]
fn a_rate_is_kept_and_a_backlog_told() {
    let bench = run_with(
        "operation = \"query\"\n",
        "operation = \"query\"\nrate = 50\n",
        &["--rounds", "1", "--seconds", "2"],
    );
    let rate = "SELECT max(events / seconds) < 100 AND min(backlog) IS NOT NULL FROM trial WHERE step_id = 'point-query'";
    assert_eq!(bench.value(rate), Some(true));
    assert_eq!(
        bench.value("SELECT count(*) FROM trial WHERE step_id = 'update' AND backlog IS NOT NULL"),
        Some(0)
    );
}

/// Measures a script for `seconds`. In one of its events, the script sleeps for `sleep_us`.
fn stalled_for(sleep_us: u32, seconds: u32) -> (Bench, Ended) {
    let script = format!(
        "local events = 0
         function thread_init() con = sysbench.sql.driver():connect() end
         function event()
            con:query('SELECT 1')
            events = events + 1
            if events == 50 then ffi.C.usleep({sleep_us}) end
         end"
    );
    let bench = bench_with(
        "workload = \"oltp_point_select\"",
        &format!("slice_seconds = \"whole\"\nseconds = {seconds}\nworkload = \"./stalls.lua\""),
    );
    bench.write("stalls.lua", &script);
    let ended = bench.dyno(&["run", "plan.toml", "--rounds", "1", "--only", "point-query"]);
    (bench, ended)
}

#[dyno_test]
fn a_trial_that_ends_in_a_stall_fails_with_the_reason() {
    let (bench, ended) = stalled_for(3_500_000, 2);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE step_id = 'point-query'").unwrap();
    assert!(message.starts_with("stalled: nothing finished in the last"), "{message}");
    assert_eq!(
        bench.value("SELECT latency_max_us >= 2000000 FROM trial WHERE step_id = 'point-query'"),
        Some(true)
    );
}

#[dyno_test]
fn a_stall_in_a_trial_is_told() {
    let (bench, ended) = stalled_for(1_300_000, 6);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let report = bench.dyno(&["report", "--full"]).stdout;
    // The lines of the report are wrapped. They are joined here, so that the text is found.
    let report = unwrapped(&report);
    assert!(report.contains("stalled in 1 of 1 round: nothing finished for up to "), "{report}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).stdout).unwrap();
    let checks = json["trial_checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["stall"]["seconds"].as_f64() >= Some(1.0)), "{checks:?}");
}

#[dyno_test]
fn the_base_runs_twice_where_a_control_is_wanted() {
    let bench = run_with("rounds = 2", "rounds = 1\naa_control = true", &[]);
    assert_eq!(
        bench.value("SELECT control_of FROM system WHERE id = 'rollback.control'"),
        Some("rollback".to_owned())
    );
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE system_id = 'rollback.control'"), Some(3));
}

#[dyno_test]
fn hooks_run_around_each_trial() {
    for (slice_seconds, second) in [("0.03", "before"), ("\"whole\"", "after")] {
        let hooks = format!(
            "[[step]]\nslice_seconds = {slice_seconds}\nbefore = \"echo before $DYNO_SYSTEM >> log\"\n\
             after = \"test -f $DYNO_FILE && echo after >> log\"\nid = \"point-query\""
        );
        let bench = run_with("[[step]]\nid = \"point-query\"", &hooks, &["--rounds", "1"]);
        let log = std::fs::read_to_string(bench.path("log")).unwrap();
        let mut lines: Vec<_> = log.lines().collect();
        // The systems take turns, so one system's trial begins before the other's ends.
        assert!(lines[1].starts_with(second), "{lines:?}");
        assert_eq!(lines[3], "after");
        lines.sort_unstable();
        assert_eq!(lines, ["after", "after", "before rollback", "before wal"]);
    }
}

#[dyno_test]
fn cores_are_kept_awake_while_a_plan_runs_or_it_does_not() {
    let look = "[[step]]\nbefore = \"ls -l /proc/$PPID/fd > files\"\nid = \"point-query\"";
    let plan = sqlite_plan(0.1).replacen("[[step]]\nid = \"point-query\"", look, 1);
    let bench = Bench::new();
    bench.write("plan.toml", &format!("keep_cores_awake = true\n{plan}"));
    let ended = bench.dyno(&["run", "plan.toml", "--rounds", "1"]);
    let file = "/dev/cpu_dma_latency";
    if std::fs::OpenOptions::new().write(true).open(file).is_ok() {
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        assert!(std::fs::read_to_string(bench.path("files")).unwrap().contains(file));
    } else {
        assert_eq!(ended.status, Some(1));
        assert!(ended.stderr.starts_with("error: cannot keep the cores awake by"), "{}", ended.stderr);
        assert!(ended.stderr.contains("leave `keep_cores_awake` out of the plan"), "{}", ended.stderr);
    }
}

#[dyno_test]
fn counters_and_drains_are_in_the_results() {
    let bench =
        run_with("[[step]]\nid = \"update\"", "[[step]]\ndrain = true\nid = \"update\"", &["--rounds", "1"]);
    let drained = "SELECT drain ->> '$.ending' FROM trial WHERE step_id = 'update' AND system_id = 'wal'";
    assert_eq!(bench.value(drained), Some("drained".to_owned()));
    assert!(bench.count("trial_counter") > 0);
}

#[dyno_test]
fn rounds_go_on_until_all_is_decided() {
    // Only one system syncs, and trials are much longer than the delays of a busy host. So noise cannot hide the
    // difference.
    let plan = sqlite_plan(1.0)
        .replace("rounds = 2", "rounds = \"until-decided\"\nrounds_max = 20")
        .replace("journal_mode = \"WAL\"", "journal_mode = \"WAL\", synchronous = \"OFF\"");
    let bench = Bench::new();
    bench.write("plan.toml", &plan);
    let looks = "verdicts after 7 rounds (p ≤ 0.0156), ";
    let shown = bench.dyno(&["run", "plan.toml", "--only", "update", "--dry-run"]).with(0);
    assert!(shown.stdout.contains(looks), "{}", shown.stdout);
    let ended = bench.dyno(&["run", "plan.toml", "--only", "update"]).with(0);
    assert!(ended.stderr.contains(looks), "{}", ended.stderr);
    assert_eq!(bench.value("SELECT looks FROM run"), Some(4));
    assert_eq!(bench.value("SELECT count(DISTINCT round) FROM trial WHERE step_id = 'update'"), Some(7));
    let report: serde_json::Value =
        serde_json::from_str(&bench.dyno(&["report", "--format", "json"]).with(0).stdout).unwrap();
    assert_eq!(report["rule"]["look"], serde_json::json!({ "rounds": 7, "alpha": 0.015_625 }));
}

#[dyno_test]
fn systems_that_promise_different_things_are_told_and_refused_if_wanted() {
    let bench = bench_with("journal_mode = \"WAL\"", "journal_mode = \"WAL\", synchronous = \"OFF\"");
    let told = bench.dyno(&["run", "plan.toml", "--rounds", "1"]).with(0);
    assert!(told.stderr.contains("wal"), "{}", told.stderr);
    let classes = "SELECT audit ->> '$.durability[0].class' <> (audit ->> '$.durability[1].class') FROM run";
    assert_eq!(bench.value(classes), Some(true));
    let refused = bench.dyno(&["run", "plan.toml", "--strict"]).with(1);
    assert!(refused.stderr.contains("the systems are not comparable"), "{}", refused.stderr);
    assert!(bench.leftovers().is_empty());
}

#[dyno_test]
fn data_is_put_back_between_steps_and_kept_for_the_next_run() {
    let bench = Bench::new();
    // The script empties a table in each trial. Only a trial that starts with the table's rows has a delete that
    // counts as a write.
    bench.write(
        "empty.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event() con:query('DELETE FROM sbtest1') end\n",
    );
    // On any disk, the time is enough for the one delete. Without slices, no delete is left out of the measurement.
    let plan = (sqlite_plan(1.5) + "slice_seconds = \"whole\"\n")
        .replace("rounds = 2", "rounds = 2\nbetween_steps = \"restore\"\nreuse_data = true")
        .replacen("oltp_update_non_index", "./empty.lua", 1);
    bench.write("plan.toml", &plan);
    let first = bench.dyno(&["run", "plan.toml"]).with(0);
    assert!(first.stderr.contains("restoring the data"), "{}", first.stderr);
    let loads = "SELECT count(*) FROM trial WHERE step_id = 'load' AND run_id = (SELECT max(id) FROM run)";
    assert!(bench.value::<u32>(loads) > Some(0));
    bench.dyno(&["run", "plan.toml"]).with(0);
    assert_eq!(bench.value(loads), Some(0), "its data was kept");
    let writes = "SELECT min(writes) FROM trial WHERE step_id = 'update' AND outcome = 'completed'";
    assert!(bench.value::<u32>(writes) >= Some(1), "every trial finds rows to delete");
}
