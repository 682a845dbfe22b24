//! `dyno doctor`: reports whether the host is quiet, and whether every step of a plan would start.

use dyno_testing::dyno_test;

use crate::bench::{Bench, Busy, sqlite_plan};

#[dyno_test]
fn a_busy_host_is_told_beforehand() {
    let bench = Bench::new();
    let busy = [Busy::start(), Busy::start()];
    let said = bench.dyno(&["doctor", "--seconds", "0.5"]).with(3).stdout;
    drop(busy);
    assert!(said.contains("too busy for verdicts"), "{said}");
    // A rule of the host audit names the processes that use the CPU.
    assert!(said.contains("sh (pid "), "{said}");
}

#[dyno_test]
fn a_plan_whose_steps_all_start_is_said_to_do_so() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.2));
    let ended = bench.dyno(&["doctor", "plan.toml", "--seconds", "0.1"]);
    // Other tests run at the same time, so the host may be too busy for verdicts.
    assert!(matches!(ended.status, Some(0 | 3)), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("tiny: 2 systems, 2 rounds"), "{}", ended.stdout);
    assert!(ended.stdout.contains("every step starts on every system"), "{}", ended.stdout);
    assert!(!bench.path("dyno.db").exists(), "nothing is kept");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test]
fn a_step_that_does_not_start_is_named() {
    let bench = Bench::new();
    bench.write(
        "broken.lua",
        "function event() sysbench.sql.driver():connect():query('SELECT * FROM no_such_table') end",
    );
    let step = "[[step]]\nid = 'broken'\ngroup = 'reads'\nworkload = './broken.lua'\noperation = 'query'\n";
    bench.write("plan.toml", &format!("{}{step}", sqlite_plan(0.2)));
    let ended = bench.dyno(&["doctor", "plan.toml", "--seconds", "0.1"]).with(1);
    let failed: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("failed")).collect();
    assert_eq!(failed.len(), 2, "{}", ended.stdout);
    assert!(
        failed.iter().all(|line| line.contains("broken at 1 client, ") && line.contains("no_such_table")),
        "{failed:?}"
    );
}
