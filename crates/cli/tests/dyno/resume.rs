//! Runs that ended before their time, and are taken up again.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send, sqlite_plan};
use crate::tests;

const RUN: [&str; 2] = ["run", "plan.toml"];
const RESUME: [&str; 3] = ["run", "plan.toml", "--resume"];

pub(crate) fn tests() -> Vec<Trial> {
    tests![
        a_stopped_run_goes_on_where_it_was_in_the_order_it_had,
        kills_at_any_moment_lose_nothing_and_the_run_completes,
        trials_that_failed_are_tried_again,
        a_run_that_cannot_be_taken_up_says_why,
    ]
}

/// What was measured: every trial, once.
const TRIALS: &str = "SELECT count(DISTINCT step_id || clients || system_id || round) FROM trial
                      WHERE outcome = 'completed'";
const ORDER: &str = "SELECT group_concat(system_id || step_id || round, ' ' ORDER BY position) FROM trial";

fn a_stopped_run_goes_on_where_it_was_in_the_order_it_had() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(1.0));
    let dyno = bench.start_until(&["run", "plan.toml", "--seed", "11"], 8);
    press_ctrl_c(&dyno);
    assert_eq!(finish(dyno).status, Some(130));
    let resumed = bench.dyno(&RESUME);
    assert_eq!(resumed.status, Some(0), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("going on with run 1"), "{}", resumed.stderr);
    assert!(resumed.stderr.contains("doing load again, unmeasured"), "{}", resumed.stderr);
    assert_eq!(bench.value(TRIALS), Some(12));
    assert_eq!((bench.count("run"), bench.count("resumption")), (1, 1));
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));

    let whole = Bench::new();
    whole.write("plan.toml", &sqlite_plan(1.0));
    assert_eq!(whole.dyno(&["run", "plan.toml", "--seed", "11"]).status, Some(0));
    assert_eq!(bench.value::<String>(ORDER), whole.value(ORDER));
}

fn kills_at_any_moment_lose_nothing_and_the_run_completes() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.1).replace("rounds = 2", "rounds = 6"));
    let (mut kills, mut kept, mut amid) = (0, 0, false);
    while kills < 20 {
        // The first time there is no run yet to be taken up.
        let arguments = if bench.count("run") == 0 { &RUN[..] } else { &RESUME[..] };
        let mut dyno = bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Moments spread over all that a run of so few trials does, in an order without a pattern.
        thread::sleep(Duration::from_millis(20 + (kills * 1231) % 2600));
        if dyno.try_wait().unwrap().is_some() {
            break;
        }
        send(Signal::KILL, dyno.id());
        finish(dyno);
        kills += 1;
        eventually("the load process has ended", || bench.processes().is_empty());
        let now: u32 = bench.value(TRIALS).unwrap_or(0);
        assert!(now >= kept, "{now} trials are left of {kept}");
        kept = now;
        amid |= 0 < kept && kept < 36;
    }
    if bench.value("SELECT status FROM run") != Some("finished".to_owned()) {
        let resumed = bench.dyno(&RESUME);
        assert_eq!(resumed.status, Some(0), "{}", resumed.stderr);
    }
    assert!(amid, "no kill came amid the trials");
    assert_eq!((bench.value(TRIALS), bench.count("trial")), (Some(36), 36));
    assert_eq!(bench.value("PRAGMA integrity_check"), Some("ok".to_owned()));
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

fn trials_that_failed_are_tried_again() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &sqlite_plan(0.1).replacen(
            "[[step]]\nid = \"point-query\"",
            "[[step]]\nbefore = \"test -e ready || { echo not yet >&2; exit 1; }\"\nid = \"point-query\"",
            1,
        ),
    );
    let failed = bench.dyno(&RUN);
    assert_eq!(failed.status, Some(1));
    assert!(failed.stderr.contains("4 of 12 trials failed"), "{}", failed.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE outcome = 'failed'").unwrap();
    assert!(message.ends_with("failed (exit status: 1): not yet"), "{message}");
    bench.write("ready", "");
    let resumed = bench.dyno(&RESUME);
    assert_eq!(resumed.status, Some(0), "{}", resumed.stderr);
    assert_eq!((bench.value(TRIALS), bench.count("trial")), (Some(12), 12));
}

fn a_run_that_cannot_be_taken_up_says_why() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.1));
    let refused = |arguments: &[&str]| {
        let ended = bench.dyno(arguments);
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
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
