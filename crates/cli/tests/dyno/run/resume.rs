//! Runs that ended early and are resumed.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use dyno_testing::dyno_test;
use rustix::process::Signal;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send, sqlite_plan};

const RUN: [&str; 2] = ["run", "plan.toml"];
const RESUME: [&str; 3] = ["run", "plan.toml", "--resume"];

/// Number of completed trials. A trial that was measured twice counts once.
const TRIALS: &str = "SELECT count(DISTINCT step_id || clients || system_id || round) FROM trial
                      WHERE outcome = 'completed'";
/// Number of rounds in which both systems completed both steps.
const COMPLETE: &str =
    "SELECT count(*) FROM (SELECT round FROM trial WHERE outcome = 'completed' AND step_id <> 'load'
                        GROUP BY round HAVING count(*) = 4)";
/// Systems and steps of the second round, in the order of execution.
pub(crate) const ORDER: &str =
    "SELECT group_concat(step_id || started_us || system_id, ' ' ORDER BY position, started_us)
                     FROM (SELECT step_id, system_id, trial.position, cycle AS started_us
                           FROM trial JOIN slice ON slice.trial_id = trial.id WHERE round = 1)";

#[dyno_test]
fn a_stopped_run_goes_on_with_the_next_round_in_the_order_it_had() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(1.0));
    let dyno = bench.start_until(&["run", "plan.toml", "--seed", "11"], 4);
    // Stops the run in the step in which the systems take turns.
    eventually("both systems have a load", || bench.load_processes().len() == 2);
    press_ctrl_c(&dyno);
    assert_eq!(finish(dyno).status, Some(130));
    assert!(bench.processes().is_empty());
    assert_eq!((bench.value(COMPLETE), bench.count("trial")), (Some(0), 4));

    let resumed = bench.dyno(&RESUME).with(0);
    assert!(resumed.stderr.contains("continuing run 1"), "{}", resumed.stderr);
    assert!(!resumed.stderr.contains("load, 1 client"), "loads were measured: {}", resumed.stderr);
    assert_eq!((bench.value(COMPLETE), bench.value(TRIALS)), (Some(2), Some(4 + 2 * 4)));
    assert_eq!((bench.count("run"), bench.count("resumption")), (1, 1));
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));

    let whole = Bench::new();
    whole.write("plan.toml", &sqlite_plan(1.0));
    assert_eq!(whole.dyno(&["run", "plan.toml", "--seed", "11"]).status, Some(0));
    let order: Option<String> = bench.value(ORDER);
    assert!(order.as_ref().is_some_and(|order| !order.is_empty()));
    assert_eq!(order, whole.value(ORDER));
}

#[dyno_test]
fn kills_at_any_moment_lose_nothing_and_the_run_completes() {
    let bench = Bench::new();
    // The load of the second system waits, so that the first kill hits between trials.
    let command = "test ! -e begun || while test ! -e ready; do sleep 0.1; done; touch begun";
    bench.write("plan.toml", &plan_with_hook("load", command));
    let dyno = bench.start_until(&RUN, 1);
    send(dyno.id(), Signal::KILL);
    finish(dyno);
    bench.write("ready", "");
    eventually("the load processes have ended", || bench.processes().is_empty());
    let mut kept: u32 = bench.value(TRIALS).unwrap();
    assert_eq!((kept, bench.value(COMPLETE)), (1, Some(0)));
    let mut kills = 0;
    while kills < 10 {
        let mut dyno = bench.command(&RESUME).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The moments of the kills are spread irregularly over the whole round.
        thread::sleep(Duration::from_millis(20 + (kills * 1231) % 3600));
        if dyno.try_wait().unwrap().is_some() {
            break;
        }
        send(dyno.id(), Signal::KILL);
        finish(dyno);
        kills += 1;
        eventually("the load processes have ended", || bench.processes().is_empty());
        let now: u32 = bench.value(TRIALS).unwrap_or(0);
        assert!(now >= kept, "{now} trials are left of {kept}");
        kept = now;
    }
    if bench.value("SELECT status FROM run") != Some("finished".to_owned()) {
        bench.dyno(&RESUME).with(0);
    }
    assert_eq!(bench.value(COMPLETE), Some(2));
    assert_eq!(bench.value(TRIALS), Some(bench.count("trial")), "no trial is there twice");
    assert_eq!(bench.value("PRAGMA integrity_check"), Some("ok".to_owned()));
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// The tiny plan, with a command before the trials of a step.
fn plan_with_hook(step: &str, command: &str) -> String {
    let id = format!("[[step]]\nid = \"{step}\"\n");
    sqlite_plan(0.1).replacen(&id, &format!("{id}before = \"{command}\"\n"), 1)
}

#[dyno_test]
fn rounds_with_failed_trials_are_made_up_for() {
    let bench = Bench::new();
    bench
        .write("plan.toml", &plan_with_hook("point-query", "test -e ready || { echo not yet >&2; exit 1; }"));
    let failed = bench.dyno(&RUN).with(1);
    assert!(failed.stderr.contains("4 of 10 trials failed"), "{}", failed.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE outcome = 'failed'").unwrap();
    assert!(message.ends_with("failed (exit status: 1): not yet"), "{message}");
    assert_eq!((bench.value(TRIALS), bench.value(COMPLETE)), (Some(6), Some(0)));
    bench.write("ready", "");
    bench.dyno(&RESUME).with(0);
    // Measured and failed trials are kept; two further rounds are complete.
    assert_eq!((bench.value(TRIALS), bench.value(COMPLETE)), (Some(6 + 8), Some(2)));
    assert_eq!(bench.count("trial"), 10 + 8);
    let again = bench.dyno(&RESUME);
    assert!(again.stderr.contains("run 1 is complete"), "{}", again.stderr);
}

#[dyno_test]
fn loads_that_were_cut_short_are_measured_when_the_run_goes_on() {
    let bench = Bench::new();
    // The load of the second system waits.
    let command = "test ! -e begun || test -e ready || sleep 3600; touch begun";
    bench.write("plan.toml", &plan_with_hook("load", command));
    let dyno = bench.start_until(&RUN, 1);
    press_ctrl_c(&dyno);
    assert_eq!(finish(dyno).status, Some(130));
    assert_eq!(bench.count("trial"), 1);
    bench.write("ready", "");
    bench.dyno(&RESUME).with(0);
    assert_eq!(bench.value(COMPLETE), Some(2));
    // Systems can be compared only in a round in which both were loaded, so both are loaded again.
    let loads = "SELECT group_concat(round || system_id, ' ' ORDER BY round, system_id) FROM trial
                 WHERE step_id = 'load' AND outcome = 'completed' AND round > 0";
    assert_eq!(bench.value(loads), Some("1rollback 1wal".to_owned()));
}

#[dyno_test]
fn a_stopped_quickstart_goes_on_as_it_says() {
    let bench = Bench::new();
    let dyno = bench.start_until(&["quickstart"], 2);
    press_ctrl_c(&dyno);
    let stopped = finish(dyno).with(130);
    assert!(stopped.stderr.contains("continue with --resume"), "{}", stopped.stderr);
    let trials = bench.count("trial");
    // The resumed run makes progress and is stopped again.
    let resumed = bench.start_until(&["quickstart", "--resume"], trials + 1);
    press_ctrl_c(&resumed);
    let resumed = finish(resumed).with(130);
    assert!(resumed.stderr.contains("continuing run 1"), "{}", resumed.stderr);
    assert_eq!((bench.count("run"), bench.count("resumption")), (1, 1));
}

#[dyno_test]
fn a_run_that_cannot_be_taken_up_says_why() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.1));
    let refused = |arguments: &[&str]| {
        let ended = bench.dyno(arguments).with(1);
        ended.stderr
    };
    assert!(refused(&RESUME).contains("has no run of it"));
    assert_eq!(bench.dyno(&RUN).status, Some(0));
    assert!(refused(&RESUME).contains("run 1 is complete"));
    assert!(
        refused(&["run", "plan.toml", "--resume", "--rounds", "9"])
            .contains("other steps, seconds or rounds")
    );
    bench.write("plan.toml", &sqlite_plan(0.2));
    assert!(refused(&RESUME).contains("another version or scale"));
}
