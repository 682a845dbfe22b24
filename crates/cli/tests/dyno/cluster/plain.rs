//! Tests without a cluster: a single task, merging by hand, output and error messages.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use dyno_testing::dyno_test;

use super::{COMPLETE, plan};
use crate::bench::{Bench, Ended, eventually};
use crate::run::resume::ORDER;

fn task(bench: &Bench, round: u32, deliver: &str) -> Command {
    let round = round.to_string();
    bench.command(&[
        "task",
        "plan.toml",
        "--seed",
        "7",
        "--spread-id",
        "5f",
        "--round",
        &round,
        "--node",
        "here",
        "--deliver",
        deliver,
    ])
}

fn carry_out(mut task: Command) -> Ended {
    task.output().unwrap().into()
}

#[dyno_test]
fn rounds_that_ran_apart_are_those_of_one_run() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(0.1));
    for round in [1, 0, 3, 2] {
        let ended = carry_out(task(&bench, round, &format!("round-{round}.db")));
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    }
    let merged =
        bench.dyno(&["results", "merge", "round-1.db", "round-0.db", "round-3.db", "round-2.db"]).with(0);
    assert!(merged.stdout.contains("round-2.db: run 1 gave a round to run 1"), "{}", merged.stdout);
    assert_eq!((bench.count("run"), bench.value(COMPLETE)), (1, Some(4)));
    assert_eq!(
        bench.value("SELECT group_concat(round || node, ' ' ORDER BY round) FROM attempt"),
        Some("0here 1here 2here 3here".to_owned())
    );
    let report = bench.dyno(&["report", "--full"]);
    assert!(report.stdout.contains("Hosts"), "{}", report.stdout);
    // In each round, systems take turns in the order that the seed gives, as in a run on one host.
    let whole = Bench::new();
    whole.write("plan.toml", &plan(0.1));
    assert_eq!(whole.dyno(&["run", "plan.toml", "--seed", "7", "--no-html"]).status, Some(0));
    let order: Option<String> = bench.value(ORDER);
    assert!(order.as_ref().is_some_and(|order| !order.is_empty()));
    assert_eq!(order, whole.value(ORDER));
}

#[dyno_test]
fn the_next_task_removes_what_a_killed_one_left() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(30.0));
    let mut killed =
        task(&bench, 0, "round-0.db").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_results = |folder: &PathBuf| folder.join("round.db").exists();
    eventually("the task writes results", || bench.leftovers().iter().any(has_results));
    killed.kill().unwrap();
    killed.wait().unwrap();
    bench.write("plan.toml", &plan(0.1));
    carry_out(task(&bench, 1, "round-1.db")).with(0);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test]
fn rounds_that_no_task_has_run_are_run_here() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(0.1));
    for round in [1, 3] {
        carry_out(task(&bench, round, &format!("round-{round}.db"))).with(0);
    }
    let files = ["results", "merge", "round-1.db", "round-3.db"];
    assert_eq!(bench.dyno(&files).status, Some(0));
    bench.dyno(&["run", "plan.toml", "--resume"]).with(0);
    // The tables are loaded already, so only the other two steps are measured.
    let complete =
        "SELECT count(*) FROM (SELECT round FROM trial WHERE outcome = 'completed' AND step_id <> 'load'
                    GROUP BY round HAVING count(*) = 4)";
    assert_eq!((bench.count("run"), bench.value(complete)), (1, Some(4)));
    let again = bench.dyno(&["run", "plan.toml", "--resume"]);
    assert!(again.stderr.contains("run 1 is complete"), "{}", again.stderr);
}

#[dyno_test]
fn what_would_be_submitted_is_printed_and_nothing_is_begun() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(0.1));
    let printed = |arguments: &[&str]| {
        let ended =
            bench.dyno(&[&["run", "plan.toml", "--print", "--only", "point*"], arguments].concat()).with(0);
        ended.stdout
    };
    let slurm = printed(&["--on", "slurm", "--nodes", "2", "--partition", "bench"]);
    for wanted in ["--array=0,1,2,3%2", "--exclusive", "--partition=bench", "'--only=point*'"] {
        assert!(slurm.contains(wanted), "{wanted}: {slurm}");
    }
    let ssh = printed(&["--on", "ssh:a,b", "--remote-dyno", "/opt/dyno"]);
    assert_eq!(
        ssh.lines().filter(|line| line.starts_with("ssh ") && line.contains("/opt/dyno task")).count(),
        2,
        "{ssh}"
    );
    assert!(!bench.path("dyno.db").exists() && !bench.path("dyno.db.tasks").exists());
}

#[dyno_test]
fn what_cannot_be_spread_is_refused() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(0.1));
    bench.write("budget.toml", &plan(0.1).replacen("rounds = 4", "budget_seconds = 60", 1));
    let refused = |arguments: &[&str]| {
        let ended = bench.dyno(&[&["run"], arguments].concat());
        assert!(ended.status.is_some_and(|status| status == 1 || status == 2), "{}", ended.stderr);
        ended.stderr
    };
    assert!(refused(&["budget.toml", "--on", "slurm"]).contains("a time budget is divided on one host"));
    assert!(refused(&["plan.toml", "--on", "kubernetes"]).contains("must be slurm or ssh:HOST,HOST"));
    bench.write("crash.toml", &(plan(0.1) + "\n[crash]\nkill = \"process\"\n"));
    let printed = refused(&["crash.toml", "--on", "slurm", "--print"]);
    assert!(printed.contains("its crash tests follow the rounds on one host"), "{printed}");
    assert!(refused(&["plan.toml", "--on", "ssh:a,a"]).contains("a is named twice"));
    assert!(
        refused(&["plan.toml", "--on", "ssh:a", "--partition", "x"]).contains("--partition is for slurm")
    );
    let task = bench.dyno(&["task", "plan.toml", "--round", "1"]).with(2);
    assert!(task.stderr.contains("--spread-id"), "{}", task.stderr);
}
