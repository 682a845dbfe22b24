//! Wrong usage, and mistakes in plans, give exit status 2 and one line that says what to do.

use std::path::Path;
use std::process::Command;

use dyno_testing::dyno_test;
use serde_json::Value;

use crate::bench::{Bench, Ended, sqlite_plan};
use crate::run::sqlite::bench_with_run;

#[dyno_test]
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
             engines: mariadb, mysql, percona, postgres, sqlite",
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

#[dyno_test]
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

#[dyno_test]
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
        vec!["engine", "add"],
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

#[dyno_test]
fn what_is_built_in_can_be_listed_and_copied() {
    let bench = Bench::new();
    let plans = bench.dyno(&["plans"]).stdout;
    assert!(plans.contains("quickstart: SQLite") && plans.contains("first-look: MySQL"), "{plans}");
    bench.write(
        "mine.toml",
        &bench.dyno(&["plans", "quickstart"]).stdout.replace("\nseconds = ", "\nsecond = "),
    );
    assert!(bench.dyno(&["run", "mine.toml"]).stderr.contains("did you mean `seconds`?"));

    assert!(plans.lines().all(|line| line.contains(": ")) && plans.lines().count() > 10, "{plans}");
    let listed: Value = serde_json::from_str(&bench.dyno(&["plans", "--format", "json"]).stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), plans.lines().count());
    assert_eq!(
        (&listed[0]["name"], &listed[0]["systems"][0]["engine"]),
        (&"quickstart".into(), &"sqlite".into())
    );
    assert!(listed[0]["steps"].as_array().unwrap().len() > 1, "{listed}");
    bench.dyno(&["plans", "quickstart", "--format", "json"]).with(2);

    let workloads = bench.dyno(&["workloads"]).stdout;
    let json: Value = serde_json::from_str(&bench.dyno(&["workloads", "--format", "json"]).stdout).unwrap();
    let names: Vec<&str> = json.as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"oltp_point_select") && names.len() == workloads.lines().count(), "{json}");
    assert!(workloads.contains("oltp_point_select"), "{workloads}");
    assert!(bench.dyno(&["workloads", "oltp_point_select"]).stdout.contains("function event()"));
    assert!(bench.dyno(&["engine", "list"]).stdout.contains("mysql@5.6.24"));
}

#[dyno_test]
fn all_mistakes_of_a_plan_are_told_at_once() {
    let bench = Bench::new();
    let plan = sqlite_plan(0.1)
        .replacen("rounds = 2", "ronds = 2", 1)
        .replacen("base = \"rollback\"", "base = \"rolback\"", 1)
        .replacen("workload = \"oltp_point_select\"", "workload = \"oltp_pint_select\"", 1);
    bench.write("plan.toml", &plan);
    let ended = bench.dyno(&["run", "plan.toml"]).with(2);
    let errors: Vec<&str> =
        ended.stderr.lines().filter(|line| line.starts_with("error: plan.toml:")).collect();
    let words = [":3:8: there is no system `rolback`", ":4:1: unknown key `ronds`", "`oltp_pint_select`"];
    assert_eq!(errors.len(), words.len(), "{}", ended.stderr);
    assert!(errors.iter().zip(words).all(|(error, words)| error.contains(words)), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("^\n").count(), 3, "each with its place: {}", ended.stderr);
}

#[dyno_test]
fn the_version_names_the_commit() {
    let told = Bench::new().dyno(&["--version"]).with(0).stdout;
    let version = format!("dyno {}", env!("CARGO_PKG_VERSION"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let git = |words: &[&str]| {
        let output = Command::new("git").current_dir(here).args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let is_tracked = git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_some();
    match git(&["rev-parse", "HEAD"]).filter(|_| is_tracked) {
        Some(commit) => {
            let short =
                told.trim().strip_prefix(&format!("{version} (")).and_then(|rest| rest.strip_suffix(')'));
            assert!(short.is_some_and(|short| short.len() > 6 && commit.starts_with(short)), "{told}");
        }
        None => assert_eq!(told.trim(), version),
    }
}

#[dyno_test]
fn a_quiet_command_prints_results_and_warnings_only() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.05).replace("rounds = 2", "rounds = 6"));
    let loud = bench.dyno(&["run", "plan.toml"]).with(0);
    assert!(loud.stderr.contains("round 1 of 6") && loud.stderr.contains("[1/"), "{}", loud.stderr);
    let quiet = bench.dyno(&["run", "plan.toml", "-q"]).with(0);
    assert!(quiet.stdout.contains("rollback"), "{}", quiet.stdout);
    for words in ["round 1 of", "[1/", "starting"] {
        assert!(!quiet.stderr.contains(words), "{words}: {}", quiet.stderr);
    }
    let hook = "[[step]]\nid = \"point-query\"\nbefore = \"false\"\n";
    let failing = sqlite_plan(0.05).replacen("[[step]]\nid = \"point-query\"\n", hook, 1);
    bench.write("failing.toml", &failing);
    let failed = bench.dyno(&["--quiet", "run", "failing.toml", "--rounds", "1"]).with(1);
    assert!(failed.stderr.contains("failed: "), "{}", failed.stderr);
    assert!(failed.stderr.lines().last().unwrap().starts_with("error: "), "{}", failed.stderr);
}

#[dyno_test]
fn colour_is_the_users_choice() {
    let bench = bench_with_run();
    let report = |when: &[&str], no_color: &str| -> String {
        let mut command = bench.command(&[&["report"], when].concat());
        Ended::from(command.env("NO_COLOR", no_color).output().unwrap()).with(0).stdout
    };
    let has_color = |text: &str| text.contains("\x1b[");
    assert!(!has_color(&report(&[], "")), "standard output is no terminal");
    assert!(has_color(&report(&["--color", "always"], "1")), "the option is stronger than the variable");
    assert!(!has_color(&report(&["--color", "never"], "")));
    bench.dyno(&["report", "--color", "sometimes"]).with(2);
}
