//! Runs the built-in suites from their first step to the last.

use dyno_testing::dyno_test;

use crate::bench::Bench;

#[dyno_test]
fn every_microbenchmark_runs() {
    let bench = Bench::new();
    let plan = r#"
name = "micro"
title = "Every microbenchmark for a moment"
base = "wal"
rounds = 1
clients = [1]
seconds = 0.02
suite = "sysbench-micro"
data = { tables = 2, rows = 300 }

[[system]]
id = "wal"
engine = "sqlite"
settings = { journal_mode = "WAL", synchronous = "OFF" }
"#;
    bench.write("plan.toml", plan);
    let ended = bench.dyno(&["run", "plan.toml", "--seconds", "0.02", "--no-html"]).with(0);
    let failed: i64 = bench.value("SELECT count(*) FROM trial WHERE outcome <> 'completed'").unwrap();
    assert_eq!(failed, 0, "{}", ended.stderr);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE operations > 0"), Some(37), "{}", ended.stderr);
}
