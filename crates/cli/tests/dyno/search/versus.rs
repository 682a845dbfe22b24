//! `dyno versus`: compares systems that are named on the command line.

use dyno_engine::Server;
use dyno_engine::testing::{installation, servers, with_engine};
use dyno_testing::dyno_test;

use crate::bench::Bench;

const VERSIONS: [&str; 2] = ["mariadb@10.1.23", "mariadb@10.11"];

const SMALL: [&str; 6] = ["--seconds", "0.02", "--rows", "100", "--rounds-max", "6"];

#[dyno_test]
fn two_settings_are_compared_and_leave_a_page() {
    let bench = Bench::new();
    let ended =
        bench.dyno(&[&["versus", "sqlite", "sqlite synchronous=NORMAL"][..], &SMALL].concat()).with(0);
    assert_eq!(bench.count("run"), 1);
    let systems = "SELECT group_concat(id, ', ' ORDER BY position) FROM system";
    assert_eq!(bench.value(systems), Some("sqlite, sqlite synchronous=NORMAL".to_owned()));
    assert_eq!(bench.value("SELECT count(DISTINCT round) FROM trial"), Some(6));
    let steps = "SELECT group_concat(id, ' ' ORDER BY position) FROM step";
    assert_eq!(bench.value(steps), Some("load point range update transaction".to_owned()));
    assert!(ended.stdout.contains(".html") && ended.stdout.contains("--print-plan"), "{}", ended.stdout);
}

#[dyno_test]
fn the_line_is_a_plan_that_can_be_run() {
    let bench = Bench::new();
    let line = ["versus", "sqlite", "sqlite synchronous=NORMAL", "--print-plan"];
    let plan = bench.dyno(&[&line[..], &SMALL].concat()).with(0).stdout;
    assert!(!bench.path("dyno.db").exists());
    bench.write("mine.toml", &plan);
    let outline = bench.dyno(&["run", "mine.toml", "--dry-run"]).with(0).stdout;
    assert!(outline.contains("sqlite synchronous=NORMAL") && outline.contains("6 rounds"), "{outline}");
}

#[dyno_test]
fn a_short_time_takes_the_six_rounds_of_a_verdict() {
    let bench = Bench::new();
    let line = ["versus", "sqlite", "sqlite", "--for", "1ms", "--seconds", "0.02", "--rows", "100"];
    bench.dyno(&line).with(0);
    assert_eq!(bench.value("SELECT count(DISTINCT round) FROM trial"), Some(6));
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));
}

#[dyno_test]
fn one_system_alone_has_figures() {
    let bench = Bench::new();
    let ended = bench.dyno(&["versus", "sqlite", "--seconds", "0.02", "--rows", "100"]).with(0);
    assert!(ended.stdout.contains("transaction"), "{}", ended.stdout);
    let gate = bench.dyno(&["versus", "sqlite", "--gate"]).with(2);
    assert_eq!(gate.stderr, "error: --gate needs at least two systems\n");
}

#[dyno_test]
fn what_cannot_be_compared_is_told() {
    let bench = Bench::new();
    for (line, words) in [
        (&["versus", "sqlit", "sqlite"][..], "did you mean 'sqlite'?"),
        (&["versus", "mariadb@1.0", "sqlite"], "there is no version"),
        (&["versus", "sqlite", "sqlite WAL"], "write NAME=VALUE"),
        (&["versus", "sqlite", "sqlite", "--workload", "none.lua"], "none.lua"),
        (&["versus", "mysql://root:secret@localhost/db"], "password"),
        (&["versus"], "<SYSTEM>"),
    ] {
        let ended = bench.dyno(line).with(2);
        assert!(ended.stderr.contains(words), "{line:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    }
    assert!(!bench.path("dyno.db").exists());
}

#[dyno_test(with_engine(VERSIONS[0]))]
fn a_slower_version_fails_the_gate() {
    for name in VERSIONS {
        installation(name).unwrap();
    }
    let bench = Bench::new();
    bench.write("slower_from.lua", include_str!("slower_from.lua"));
    bench.write_lean_profiles();
    let line = [
        "versus",
        VERSIONS[0],
        VERSIONS[1],
        "--workload",
        "slower_from.lua",
        "--option",
        "slower_from=10.11",
        "--no-prepare",
        "--profile",
        "lean.toml",
        "--seconds",
        "0.3",
        "--rounds-max",
        "6",
        "--gate",
    ];
    let ended = bench.dyno(&line).with(1);
    assert!(ended.stdout.contains('−'), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
    assert!(bench.processes().is_empty() && bench.leftovers().is_empty());
}

#[dyno_test(servers(&[VERSIONS[1]]))]
fn a_server_that_runs_already_is_measured_as_it_is(server: &mut Server) {
    let bench = Bench::new();
    let access = server.access();
    bench.write("secret", &access.password);
    let secret = bench.path("secret").display().to_string();
    let address = format!("mariadb://{}:${{file:{secret}}}@127.0.0.1:{}", access.user, access.port);
    let ended = bench.dyno(&["versus", &address, "--seconds", "0.02", "--rows", "100"]).with(0);
    assert!(ended.stdout.contains("transaction"), "{}", ended.stdout);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'failed'"), Some(0));
}
