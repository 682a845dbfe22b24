//! Exports the results of a real run: `dyno export`.

use std::fs;

use dyno_testing::{Completion, Failed, dyno_test, ignorable};

use crate::bench::Bench;
use crate::run::sqlite::bench_with_run;

#[dyno_test]
fn every_format_has_every_trial() {
    let bench = bench_with_run();
    let parquet = bench.dyno(&["export", "out"]);
    assert_eq!((parquet.status, parquet.stderr.as_str()), (Some(0), ""));
    assert!(parquet.stdout.contains("out/trial.parquet: 10 rows, "), "{}", parquet.stdout);
    let file = fs::read(bench.path("out/trial.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    for (format, header) in [("csv", 1), ("jsonl", 0)] {
        bench.dyno(&["export", "out", "--format", format, "--run", "1"]).with(0);
        let text = fs::read_to_string(bench.path(&format!("out/trial.{format}"))).unwrap();
        // Each row is one line. Only the message and the log of a failed trial could contain line ends, and no trial
        // failed.
        assert_eq!(text.lines().count(), 10 + header, "{text}");
    }
}

#[dyno_test]
fn files_that_are_there_are_overwritten_only_by_force() {
    let bench = bench_with_run();
    fs::create_dir(bench.path("out")).unwrap();
    bench.write("out/step.csv", "mine");
    let refused = bench.dyno(&["export", "out", "--format", "csv"]).with(1);
    assert_eq!(
        refused.stderr,
        "error: out/step.csv: exists already; name another folder, or overwrite it with --force\n"
    );
    assert_eq!(fs::read_dir(bench.path("out")).unwrap().count(), 1);
    bench.dyno(&["export", "out", "--format", "csv", "--force"]).with(0);
    assert!(fs::read_to_string(bench.path("out/step.csv")).unwrap().contains("point-query"));
}

#[dyno_test]
fn what_cannot_be_exported_is_named() {
    let bench = Bench::new();
    bench.write("notes.txt", &"not a database ".repeat(400));
    for (arguments, words) in [
        (["out", "--results", "none.db"], "none.db: no such results file"),
        (["out", "--results", "notes.txt"], "notes.txt: not a Dyno results file"),
    ] {
        let ended = bench.dyno(&[&["export"], &arguments[..]].concat()).with(1);
        assert!(ended.stderr.starts_with(&format!("error: {words}")), "{}", ended.stderr);
        assert!(!bench.path("out").exists());
    }
    let bench = bench_with_run();
    let missing = bench.dyno(&["export", "out", "--run", "7"]);
    assert_eq!(missing.stderr, "error: dyno.db: has no run 7; it holds run 1\n");
    let unwritable = bench.dyno(&["export", "dyno.db/out"]);
    assert!(
        unwritable.stderr.starts_with("error: dyno.db/out: cannot be written ("),
        "{}",
        unwritable.stderr
    );
    assert_eq!(unwritable.stderr.lines().count(), 1);
}

#[dyno_test]
fn figures_go_to_tools_that_follow_them() {
    let bench = bench_with_run();
    let ended = bench.dyno(&["export", "--format", "bmf", "bencher"]).with(0);
    assert!(ended.stdout.starts_with("bencher/tiny-1.json: ") && ended.stderr.is_empty(), "{}", ended.stdout);
    let text = fs::read_to_string(bench.path("bencher/tiny-1.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(found["tiny/wal/point-query/1 client"]["throughput"]["value"].as_f64().unwrap() > 0.0, "{text}");
    bench.dyno(&["export", "--format", "otava", "otava"]).with(0);
    let csv = fs::read_to_string(bench.path("otava/tiny.wal.point-query.1.csv")).unwrap();
    assert!(csv.starts_with("time,run,version,throughput,p50_us,p95_us,p99_us\n20"), "{csv}");
    assert!(
        fs::read_to_string(bench.path("otava/otava.yaml")).unwrap().contains("\"tiny.wal.point-query.1\":")
    );
    let again = bench.dyno(&["export", "--format", "otava", "otava"]).with(1);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let both = bench.dyno(&["export", "--format", "bmf", "--partition", "--to", "out"]).with(1);
    assert!(both.stderr.contains("a partitioned data set is in Parquet"), "{}", both.stderr);
}

#[dyno_test(ignorable)]
fn a_full_disk_leaves_no_half_of_an_export() -> Result<Completion, Failed> {
    let bench = bench_with_run();
    let file = rusqlite::Connection::open(bench.path("dyno.db"))?;
    file.execute("UPDATE variable SET value = hex(randomblob(500000)) WHERE name = 'journal_mode'", [])?;
    drop(file);
    let list = "--format csv small/out; status=$?; ls -A small/out > left; (exit $status)";
    let Some(ended) = bench.on_a_small_disk(&format!("export {list}"))? else {
        return Ok(Completion::ignored_with("this user may not mount a small disk"));
    };
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("error: small/out/variable.csv: cannot be written ("),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read_to_string(bench.path("left"))?, "");
    Ok(Completion::Completed)
}
