//! `dyno engine`: a server that lives from `start` to `stop`.

use std::collections::BTreeSet;
use std::process::Stdio;

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::Bench;

const SYSTEM: &str = "mariadb@10.11/rocksdb";
const POSTGRES: &str = "postgres@18.4";

#[dyno_test]
fn the_cache_is_shown_and_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let item = |name: &str| {
        let item = folder.path().join(name);
        std::fs::create_dir_all(&item).unwrap();
        std::fs::write(item.join("server"), vec![1; 100_000]).unwrap();
        item
    };
    let engine = item("engines/made-up@1");
    let [template, tool] = [item("templates/made-up@1-7"), item("tools/made-up")];
    let data = item("runs/data");
    let bench = Bench::new();
    let run = |arguments: &[&str]| {
        let output = bench.command(arguments).env("DYNO_CACHE", folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, shown) = run(&["engine", "cache"]);
    assert_eq!(status, Some(0));
    assert!(shown.contains("made-up@1") && shown.contains("used today"), "{shown}");
    assert!(shown.contains("snapshots: none") && shown.contains("made-up@1-7"), "{shown}");
    assert!(shown.contains("\ntools: ") && shown.contains("\ndata of runs: 1"), "{shown}");
    assert!(shown.ends_with("`dyno engine cache prune --all` empties it\n"), "{shown}");

    let (_, removed) = run(&["engine", "cache", "prune"]);
    assert!(removed.contains("removed: none") && engine.exists(), "{removed}");
    let (_, removed) = run(&["engine", "cache", "prune", "--only", "snapshots", "--keep", "0"]);
    assert!(removed.contains("removed: none") && engine.exists(), "{removed}");
    let (_, removed) = run(&["engine", "cache", "prune", "--only", "engines", "--keep", "10K"]);
    assert!(removed.contains("made-up@1") && !engine.exists(), "{removed}");
    assert!(template.exists() && tool.exists());
    let (_, removed) = run(&["engine", "cache", "prune", "--all"]);
    assert!(removed.contains(" in 2\n") && !template.exists() && !tool.exists(), "{removed}");
    assert!(data.exists(), "what does not belong to a run stays");
    assert_eq!(run(&["engine", "cache", "prune", "--all", "--keep", "1G"]).0, Some(2));
    assert_eq!(run(&["engine", "cache", "prune", "--keep", "some"]).0, Some(2));
}

#[dyno_test(with_engine(SYSTEM))]
fn a_server_runs_from_start_to_stop() {
    let bench = Bench::new();
    let started =
        bench.dyno(&["engine", "start", SYSTEM, "--set", "max_connections=77", "--format", "json"]).with(0);
    let access: Value = serde_json::from_str(&started.stdout).unwrap();
    let keys: BTreeSet<_> = access.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["engine", "version", "socket", "port", "user", "password", "pid", "datadir"];
    assert_eq!(keys, BTreeSet::from(expected));
    assert_eq!(bench.processes().len(), 1);

    let again = bench.dyno(&["engine", "start", SYSTEM]).with(1);
    assert!(again.stderr.contains("runs already"), "{}", again.stderr);
    let list = bench.dyno(&["engine", "list"]).stdout;
    let pid = access["pid"].to_string();
    let is_it = |line: &str| line.starts_with(SYSTEM) && line.split_whitespace().any(|word| word == pid);
    assert!(list.lines().any(is_it), "{list}");

    let sql =
        "CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('a;b'), (NULL); SELECT c, @@max_connections n FROM t";
    let rows = bench.dyno(&["engine", "shell", "mariadb", "-e", sql]);
    assert_eq!(
        (rows.status, rows.stdout.as_str()),
        (Some(0), "c\tn\na;b\t77\nNULL\t77\n"),
        "{}",
        rows.stderr
    );
    bench.write("input.sql", "SELECT 1 one;\nSELEC 2;\nSELECT 3 three;\n");
    let input = std::fs::File::open(bench.path("input.sql")).unwrap();
    let shell = bench.command(&["engine", "shell", "mariadb"]).stdin(Stdio::from(input)).output().unwrap();
    assert_eq!((shell.status.code(), shell.stdout.as_slice()), (Some(1), b"one\n1\n".as_slice()));
    assert!(String::from_utf8_lossy(&shell.stderr).contains("SELEC 2"));

    bench.dyno(&["engine", "stop", "mariadb"]).with(0);
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test(with_engine(POSTGRES))]
fn statements_end_as_the_server_reads_them() {
    let bench = Bench::new();
    bench.dyno(&["engine", "start", POSTGRES]).with(0);
    let sql = r"SELECT 'a\' AS c; DO $$ BEGIN PERFORM 1; END $$; SELECT 5 # 3 AS d; SELECT E'\';' AS e";
    let rows = bench.dyno(&["engine", "shell", POSTGRES, "-e", sql]).with(0);
    assert_eq!(rows.stdout, "c\na\\\nd\n6\ne\n';\n", "{}", rows.stderr);
    let command = bench.dyno(&["engine", "shell", POSTGRES, "-e", "\\dt"]).with(1);
    assert!(command.stderr.contains("`\\dt` is a command of psql"), "{}", command.stderr);
    bench.dyno(&["engine", "stop", POSTGRES]).with(0);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}
