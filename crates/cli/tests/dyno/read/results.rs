//! Maintains the results file of a real run with `dyno results`.

use std::fs;

use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, finish, send, sqlite_plan};
use crate::run::sqlite::bench_with_run;

/// Every command that reads a results file.
const READERS: &[&[&str]] = &[
    &["report"],
    &["report", "--full"],
    &["report", "--format", "json"],
    &["report", "--format", "markdown"],
    &["report", "--format", "html", "--out", "page.html"],
    &["report", "--charts", "pictures"],
    &["compare"],
    &["explain", "--all"],
    &["history", "tiny"],
    &["cost", "--tps", "1", "--test", "point-query", "--prices", "aws-2018-08"],
    &["results", "list", "--sizes"],
    &["results", "show"],
    &["results", "check"],
    &["results", "delete", "1"],
    &["export", "out"],
    &["export", "--partition", "--to", "dataset"],
];

fn sql(bench: &Bench, sql: &str) {
    rusqlite::Connection::open(bench.path("dyno.db")).unwrap().execute_batch(sql).unwrap();
}

#[dyno_test]
fn a_date_beyond_every_calendar_ends_no_reader() {
    let bench = bench_with_run();
    for date in [253_402_300_800_000, i64::MAX, i64::MIN, -1] {
        sql(&bench, &format!("UPDATE run SET started_at_ms = {date}, finished_at_ms = {date}"));
        for reader in READERS.iter().filter(|_| date == i64::MAX) {
            let ended = bench.dyno(reader);
            assert!(ended.status.is_some_and(|status| status < 4), "{reader:?}: {}", ended.stderr);
            assert!(!ended.stderr.contains("panicked"), "{reader:?}: {}", ended.stderr);
        }
        let listed = bench.dyno(&["results", "list"]).with(0);
        let shown = if date < 0 { "1970-01-01 00:00:00 UTC" } else { "9999-12-31 23:59:59 UTC" };
        assert!(listed.stdout.contains(shown), "{}", listed.stdout);
        let checked = bench.dyno(&["results", "check"]).with(1);
        let text = format!("{}{}", checked.stdout, checked.stderr);
        assert!(text.contains("run: its started_at_ms has values that no run writes (rows: 1)"), "{text}");
    }
}

#[dyno_test]
fn a_file_with_a_view_in_place_of_a_table_is_refused_by_every_reader() {
    let bench = bench_with_run();
    sql(
        &bench,
        "DROP TABLE slice; CREATE VIEW slice AS
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS trial_id FROM n",
    );
    fs::copy(bench.path("dyno.db"), bench.path("other.db")).unwrap();
    let writers: &[&[&str]] =
        &[&["results", "merge", "other.db", "--results", "new.db"], &["results", "vacuum"]];
    for reader in READERS.iter().chain(writers) {
        let ended = bench.dyno(reader);
        assert!(matches!(ended.status, Some(1 | 2)), "{reader:?}: {:?}", ended.status);
        assert!(ended.stderr.contains("its `slice` is a view, not a table"), "{reader:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    assert!(!bench.path("out").exists() && !bench.path("new.db").exists());
}

#[dyno_test]
fn what_is_no_file_is_not_waited_for() {
    let bench = Bench::new();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    fs::create_dir(bench.path("folder")).unwrap();
    for (name, what) in [("pipe", "is a named pipe"), ("folder", "is a folder"), ("/dev/zero", "is a device")]
    {
        for command in [&["report"][..], &["results", "list"], &["export", "out"], &["results", "vacuum"]] {
            let ended = bench.dyno(&[command, &["--results", name]].concat()).with(1);
            assert!(ended.stderr.contains(what), "{command:?} {name}: {}", ended.stderr);
        }
    }
}

fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let ended = bench.dyno(&[arguments, &["--format", "json"]].concat());
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ended.stdout).unwrap()
}

#[dyno_test]
fn runs_are_listed_and_shown() {
    let bench = bench_with_run();
    let list = json(&bench, &["results", "list", "--sizes"]);
    assert_eq!((&list[0]["run"], &list[0]["plan"]), (&1.into(), &"tiny".into()));
    assert_eq!((&list[0]["state"], &list[0]["completed_trials"]), (&"finished".into(), &10.into()));
    assert!(list[0]["bytes"].as_u64() > Some(1000), "{list}");
    assert_eq!(json(&bench, &["results", "list"])[0]["bytes"], Value::Null);
    let text = bench.dyno(&["results", "list"]).stdout;
    assert!(text.lines().nth(1).unwrap().starts_with("  1  tiny"), "{text}");

    let run = json(&bench, &["results", "show", "1"]);
    assert_eq!((&run["seed"], &run["systems"][1]["id"]), (&7.into(), &"wal".into()));
    assert_eq!((&run["steps"][2]["id"], &run["steps"][2]["completed_trials"]), (&"update".into(), &4.into()));
    let text = bench.dyno(&["results", "show"]).stdout;
    assert!(text.starts_with("run 1: A tiny plan (tiny)\n"), "{text}");
    assert!(text.contains("oltp_update_non_index run"), "{text}");
}

#[dyno_test]
fn a_run_is_deleted_only_when_that_is_meant() {
    let bench = bench_with_run();
    let asked = bench.dyno(&["results", "delete", "1"]);
    assert_eq!((asked.status, asked.stdout.as_str()), (Some(1), ""));
    assert!(
        asked.stderr.contains("nothing deleted; with --yes this deletes run 1 (tiny, "),
        "{}",
        asked.stderr
    );
    assert!(asked.stderr.ends_with("10 trials)\n"), "{}", asked.stderr);
    let none = bench.dyno(&["results", "delete", "1", "2", "--yes"]);
    assert_eq!(none.stderr, "error: dyno.db: has no run 2; it holds run 1\n");
    assert_eq!(bench.count("trial"), 10);

    // The run's data becomes larger than the pages that an empty file has.
    let file = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    file.execute("UPDATE run SET plan_text = plan_text || printf('# %.*c', 100000, 'x')", []).unwrap();
    drop(file);
    bench.dyno(&["results", "delete", "1", "--yes"]).with(0);
    assert_eq!((bench.count("run"), bench.count("trial"), bench.count("sample")), (0, 0, 0));
    let before = fs::metadata(bench.path("dyno.db")).unwrap().len();
    assert_eq!(bench.dyno(&["results", "vacuum"]).status, Some(0));
    assert!(fs::metadata(bench.path("dyno.db")).unwrap().len() < before);
    let report = bench.dyno(&["report"]);
    assert_eq!(report.stderr, "error: dyno.db: holds no run yet; start one with `dyno run`\n");
}

#[dyno_test]
fn runs_of_several_files_come_together() {
    let bench = bench_with_run();
    bench.dyno(&["run", "plan.toml", "--rounds", "1", "--results", "other.db"]).with(0);
    fs::copy(bench.path("dyno.db"), bench.path("copy.db")).unwrap();
    let merged = bench.dyno(&["results", "merge", "other.db", "copy.db"]).with(0);
    assert_eq!(merged.stdout, "other.db: run 1 is run 2 now\ncopy.db: run 1 is here already, as run 1\n");
    assert_eq!(bench.count("trial"), 16);
    let reports =
        |run: &str, file: &str| bench.dyno(&["report", run, "--results", file, "--format", "markdown"]);
    let (here, there) = (reports("2", "dyno.db").stdout, reports("1", "other.db").stdout);
    assert_eq!(here.replace("run 2", "run 1"), there.replace("other.db", "dyno.db"));
    assert_eq!(bench.dyno(&["results", "check"]).stdout, "dyno.db: no fault found\n");

    let missing = bench.dyno(&["results", "merge", "other.db", "none.db", "--results", "new.db"]).with(1);
    assert!(missing.stderr.starts_with("error: none.db: no such results file"), "{}", missing.stderr);
    assert!(!bench.path("new.db").exists());
}

#[dyno_test]
fn a_run_at_work_is_not_disturbed() {
    let bench = bench_with_run();
    bench.write("long.toml", &sqlite_plan(3600.0));
    let dyno = bench.start_until(&["run", "long.toml"], 10 + 4);
    assert!(bench.dyno(&["results", "list"]).stdout.contains("running"));
    for arguments in [&["delete", "1", "--yes"][..], &["delete", "2", "--yes"], &["vacuum"]] {
        let refused = bench.dyno(&[&["results"], arguments].concat());
        assert_eq!(refused.status, Some(1), "{arguments:?}");
        assert_eq!(refused.stderr, "error: dyno.db: run 2 is running; wait until it has ended, or stop it\n");
    }
    let merged = bench.dyno(&["results", "merge", "dyno.db", "--results", "all.db"]);
    assert!(merged.stdout.contains("run 2 is running, so it was left out"), "{}", merged.stdout);
    send(dyno.id(), Signal::KILL);
    finish(dyno);
    bench.dyno(&["results", "delete", "2", "--yes"]).with(0);
    assert_eq!(bench.count("trial"), 10);
}

#[dyno_test]
fn files_that_are_none_are_named() {
    let bench = Bench::new();
    bench.write("notes.txt", &"not a database ".repeat(400));
    fs::create_dir(bench.path("folder")).unwrap();
    for command in [&["list"][..], &["show"], &["delete", "1", "--yes"], &["vacuum"], &["check"]] {
        for (file, words) in [
            ("none.db", "none.db: no such results file"),
            ("no/such/folder.db", "no/such/folder.db: no such results file"),
            ("notes.txt", "notes.txt: not a Dyno results file"),
            ("folder", "folder: is a folder, not a file"),
        ] {
            let ended = bench.dyno(&[&["results"], command, &["--results", file]].concat());
            assert_eq!(ended.status, Some(1), "{command:?} {file}");
            assert!(ended.stderr.starts_with(&format!("error: {words}")), "{command:?}: {}", ended.stderr);
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        }
    }
    assert!(!bench.path("none.db").exists());
}

#[dyno_test]
fn a_file_of_an_earlier_format_is_refused_and_left_as_it_is() {
    let bench = bench_with_run();
    let file = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    let current: i64 = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    file.pragma_update(None, "user_version", 6).unwrap();
    drop(file);
    for arguments in [&["report"][..], &["compare"], &["run", "plan.toml"], &["run", "plan.toml", "--resume"]]
    {
        let refused = bench.dyno(arguments);
        assert!(matches!(refused.status, Some(1 | 2)), "{arguments:?}: {}", refused.stderr);
        let words = format!(
            "error: dyno.db: has results format 6, this Dyno reads format {current} only; use the Dyno that wrote it, or \
             name another file with --results\n"
        );
        assert_eq!(refused.stderr, words, "{arguments:?}");
    }
    assert_eq!(bench.count("trial"), 10);
}

#[dyno_test]
fn nothing_is_left_beside_the_file() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.05));
    let all: Vec<&[&str]> = [&["run", "plan.toml", "--rounds", "1"][..], &["run", "plan.toml", "--resume"]]
        .into_iter()
        .chain(READERS.iter().copied())
        .chain([&["results", "vacuum"][..], &["results", "delete", "1", "--yes"]])
        .collect();
    for arguments in all {
        bench.dyno(arguments);
        for name in ["dyno.db-wal", "dyno.db-shm"] {
            assert!(!bench.path(name).exists(), "{arguments:?} left {name}");
        }
    }
}

#[dyno_test]
fn the_environment_may_name_the_file() {
    let bench = bench_with_run();
    fs::rename(bench.path("dyno.db"), bench.path("mine.db")).unwrap();
    let list = |arguments: &[&str]| {
        let mut command = bench.command(&[&["results", "list"], arguments].concat());
        command.env("DYNO_RESULTS", "mine.db").output().unwrap()
    };
    let listed = list(&[]);
    assert!(listed.status.success(), "{listed:?}");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("tiny"), "{listed:?}");
    let other = list(&["--results", "other.db"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("other.db: no such results file"), "{other:?}");
    // The data set is read instead of the file that the environment names.
    bench.dyno(&["export", "--partition", "--to", "set", "--results", "mine.db"]).with(0);
    let mut command = bench.command(&["history", "tiny", "--dataset", "set"]);
    let history = command.env("DYNO_RESULTS", "mine.db").output().unwrap();
    assert!(!String::from_utf8_lossy(&history.stderr).contains("cannot be used with"), "{history:?}");
}

#[dyno_test]
fn damage_is_found_and_fails_the_check() {
    let bench = bench_with_run();
    let connection = rusqlite::Connection::open(bench.path("dyno.db")).unwrap();
    connection.execute("UPDATE trial SET latency = x'00' WHERE id = 3", []).unwrap();
    drop(connection);
    let check = bench.dyno(&["results", "check"]).with(1);
    assert_eq!(check.stdout, "dyno.db: trial 3: its latency histogram cannot be read\n");
    assert!(check.stderr.starts_with("error: dyno.db: 1 fault;"), "{}", check.stderr);

    let bytes = fs::read(bench.path("dyno.db")).unwrap();
    fs::write(bench.path("short.db"), &bytes[..bytes.len() / 2]).unwrap();
    let check = bench.dyno(&["results", "check", "--results", "short.db"]);
    assert!(check.stderr.starts_with("error: short.db: damaged ("), "{}", check.stderr);
    let merged = bench.dyno(&["results", "merge", "short.db"]);
    assert!(merged.stderr.starts_with("error: short.db: damaged ("), "{}", merged.stderr);
}

#[dyno_test(ignorable)]
fn a_merge_onto_a_full_disk_changes_nothing() -> Result<Completion, Failed> {
    let bench = bench_with_run();
    fs::rename(bench.path("dyno.db"), bench.path("many.db"))?;
    let many = rusqlite::Connection::open(bench.path("many.db"))?;
    many.execute("UPDATE run SET plan_text = plan_text || hex(zeroblob(500000))", [])?;
    drop(many);
    let Some(ended) = bench.on_a_small_disk("results merge many.db --results small/dyno.db")? else {
        return Ok(Completion::ignored_with("this user may not mount a small disk"));
    };
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: small/dyno.db: the disk is full"), "{}", ended.stderr);
    assert_eq!((bench.count("run"), bench.count("trial")), (0, 0));
    assert_eq!(bench.dyno(&["results", "check"]).status, Some(0));
    Ok(Completion::Completed)
}
