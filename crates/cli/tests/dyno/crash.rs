//! `dyno crash`: systems that are crashed and looked at.

use dyno_engine::testing::engine_test;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::bench::Bench;
use crate::tests;

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests = tests![
        a_crash_test_is_told_in_a_table,
        a_crash_test_is_json_for_programs,
        what_cannot_be_crashed_is_refused,
    ];
    tests.push(engine_test(
        "dyno::crash::a_server_that_may_lose_its_last_second_is_told_so",
        "mariadb@10.11",
        |_| a_server_that_may_lose_its_last_second_is_told_so(),
    ));
    tests
}

const SQLITE: [&str; 10] =
    ["crash", "sqlite", "--profile", "safe", "--crashes", "2", "--commits", "30", "--clients", "2"];

fn a_crash_test_is_told_in_a_table() {
    let ended = Bench::new().dyno(&SQLITE);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("crash 1/2: "), "{}", ended.stderr);
    let line = |name: &str| {
        let line = ended.stdout.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{}", ended.stdout))[18..].to_owned()
    };
    assert_eq!(line("settings promise"), "no acknowledged commit is lost");
    assert_eq!((line("crashes"), line("lost"), line("torn")), ("2".into(), "0".into(), "0".into()));
    assert_eq!(line("verdict"), "kept: nothing was lost");
}

fn a_crash_test_is_json_for_programs() {
    let ended = Bench::new().dyno(&[&SQLITE[..], &["--format", "json"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["verdict"], &report["kind"]), (&"kept".into(), &"process".into()));
    assert_eq!((&report["promise"]["loss"], &report["lost"]), (&"nothing".into(), &0.into()));
    assert!(report["acknowledged"].as_u64() >= Some(60), "{report}");
    assert_eq!(report["crashes"].as_array().unwrap().len(), 2);
}

fn what_cannot_be_crashed_is_refused() {
    let bench = Bench::new();
    for (arguments, status, words) in [
        (vec!["crash", "sqlit"], 2, "did you mean 'sqlite'?"),
        (vec!["crash", "sqlite", "--volume", "1M"], 2, "must be at least 256M"),
        (vec!["crash", "sqlite", "--profile", "saef"], 2, "safe"),
        (vec!["crash", "sqlite", "--crashes", "0"], 2, "--crashes"),
    ] {
        let ended = bench.dyno(&arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

fn a_server_that_may_lose_its_last_second_is_told_so() {
    let ended = Bench::new().dyno(&[
        "crash",
        "mariadb@10.11",
        "--set",
        "innodb_flush_log_at_trx_commit=0",
        "--set",
        "innodb_flush_log_at_timeout=2700",
        "--crashes",
        "1",
        "--commits",
        "100",
    ]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let words = ["commits of about the last second may be lost", "it lost no more than its settings allow"];
    assert!(words.iter().all(|words| ended.stdout.contains(words)), "{}", ended.stdout);
    assert!(ended.stdout.contains("ms before its crash\n"), "{}", ended.stdout);
}
