//! What wrong usage and plans with mistakes get: exit status 2, and one line that says what to do.

use libtest_mimic::Trial;

use crate::bench::{Bench, sqlite_plan};
use crate::tests;

pub(crate) fn tests() -> Vec<Trial> {
    tests![
        a_plan_with_a_mistake_is_shown_with_its_place,
        wrong_usage_is_told_from_failure,
        every_command_s_help_has_an_example,
        what_is_built_in_can_be_listed_and_copied,
    ]
}

fn a_plan_with_a_mistake_is_shown_with_its_place() {
    for (old, new, first_line) in [
        ("rounds = 2", "ronds = 2", "error: plan.toml:4:1: unknown key `ronds` — did you mean `rounds`?"),
        (
            "rounds = 2",
            "rounds = \"2\"",
            "error: plan.toml:4:10: `rounds` must be \"until-decided\" or a whole number",
        ),
        (
            "rounds = 2",
            "trials = 2",
            "error: plan.toml:4:1: `trials` is now `rounds`: a round starts every system anew and takes it through all \
             steps; see docs/do/plans.md",
        ),
        ("rounds = 2", "rounds = 0", "error: plan.toml:4:10: `rounds` must be from 1 to 1000"),
        ("base = \"rollback\"\n", "", "error: plan.toml:1:1: the plan needs a key `base`"),
        (
            "base = \"rollback\"",
            "base = \"rolback\"",
            "error: plan.toml:3:8: there is no system `rolback` — did you mean `rollback`?",
        ),
        (
            "engine = \"sqlite\"",
            "engine = \"sqlit\"",
            "error: plan.toml:15:10: there is no engine 'sqlit', did you mean 'sqlite'?; \
             engines: mariadb, mysql, postgres, sqlite",
        ),
    ] {
        let bench = Bench::new();
        bench.write("plan.toml", &sqlite_plan(0.1).replacen(old, new, 1));
        let ended = bench.dyno(&["run", "plan.toml"]).with(2);
        assert_eq!(ended.stderr.lines().next(), Some(first_line));
        assert!(ended.stderr.ends_with("^\n"), "{}", ended.stderr);
        assert!(!bench.path("dyno.db").exists());
    }
}

fn wrong_usage_is_told_from_failure() {
    let bench = Bench::new();
    bench.write("kept.db", "");
    for (arguments, status, words) in [
        (vec!["run"], 2, "<PLAN>"),
        (vec!["run", "quikstart"], 2, "did you mean `quickstart`?"),
        (vec!["run", "none.toml"], 2, "cannot read the plan none.toml: No such file"),
        (vec!["run", "quickstart", "--rounds", "0"], 2, "--rounds"),
        (vec!["run", "quickstart", "--seconds", "0"], 2, "--seconds"),
        (vec!["run", "quickstart", "--clients", "0"], 2, "number of clients"),
        (vec!["reprot"], 2, "report"),
        (vec!["report", "--format", "pdf"], 2, "[possible values: text, markdown, html, json]"),
        (vec!["engine", "fetch", "maridb"], 2, "did you mean 'mariadb'?"),
        (vec!["engine", "fetch", "mysql@"], 2, "has no version"),
        (vec!["engine", "start", "mysql", "--set", "x"], 2, "must be NAME=VALUE"),
        (vec!["report"], 1, "error: dyno.db: no such results file"),
        (vec!["report", "last"], 2, "must be a run's number, as `dyno results list` prints it"),
        (
            vec!["report", "kept.db"],
            2,
            "must be a run's number; to read this results file, give --results kept.db",
        ),
        (vec!["results", "delete"], 2, "<RUN>"),
        (vec!["results", "merge"], 2, "<FILE>"),
        (vec!["engine", "stop", "mysql"], 1, "error: mysql is not running"),
        (vec!["engine", "start", "sqlite"], 1, "runs inside dyno"),
        (vec!["workloads", "oltp"], 1, "there is no built-in workload `oltp`"),
    ] {
        let ended = bench.dyno(&arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
}

fn every_command_s_help_has_an_example() {
    let bench = Bench::new();
    for command in [
        vec![],
        vec!["quickstart"],
        vec!["run"],
        vec!["report"],
        vec!["export"],
        vec!["results"],
        vec!["results", "list"],
        vec!["results", "show"],
        vec!["results", "delete"],
        vec!["results", "merge"],
        vec!["results", "vacuum"],
        vec!["results", "check"],
        vec!["compare"],
        vec!["bisect"],
        vec!["history"],
        vec!["serve"],
        vec!["plans"],
        vec!["workloads"],
        vec!["drive"],
        vec!["engine"],
        vec!["engine", "list"],
        vec!["engine", "fetch"],
        vec!["engine", "start"],
        vec!["engine", "stop"],
        vec!["engine", "shell"],
        vec!["engine", "settings"],
        vec!["engine", "cache"],
    ] {
        let ended = bench.dyno(&[&command[..], &["--help"]].concat());
        assert_eq!(ended.status, Some(0), "{command:?}");
        let example = format!("  dyno {}", command.join(" "));
        let (_, examples) = ended.stdout.split_once("Example").unwrap_or_else(|| panic!("{command:?}"));
        assert!(examples.contains(example.trim_end()), "{command:?}: {examples}");
    }
}

fn what_is_built_in_can_be_listed_and_copied() {
    let bench = Bench::new();
    let plans = bench.dyno(&["plans"]).stdout;
    assert!(plans.contains("quickstart: SQLite") && plans.contains("first-look: MySQL"), "{plans}");
    bench.write(
        "mine.toml",
        &bench.dyno(&["plans", "quickstart"]).stdout.replace("\nseconds = ", "\nsecond = "),
    );
    assert!(bench.dyno(&["run", "mine.toml"]).stderr.contains("did you mean `seconds`?"));

    let workloads = bench.dyno(&["workloads"]).stdout;
    assert!(workloads.contains("oltp_point_select"), "{workloads}");
    assert!(bench.dyno(&["workloads", "oltp_point_select"]).stdout.contains("function event()"));
    assert!(bench.dyno(&["engine", "list"]).stdout.contains("mysql@5.6.24"));
}
