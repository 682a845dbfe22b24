//! Trials that are run again because something else used the host's CPU meanwhile.

use std::process::{Child, Command};

use libtest_mimic::Trial;

use crate::bench::{Bench, sqlite_plan};
use crate::tests;

pub(crate) fn tests() -> Vec<Trial> {
    tests![disturbed_trials_are_run_again_and_kept]
}

/// A process that uses all the CPU that it gets.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn disturbed_trials_are_run_again_and_kept() {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(0.3));
    let busy = [Busy::start(), Busy::start()];
    let ended = bench.dyno(&["run", "plan.toml", "--rerun-disturbed", "1"]);
    drop(busy);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("other processes used the CPU, measuring again"), "{}", ended.stderr);
    let superseded = bench.value::<i64>("SELECT count(*) FROM trial WHERE is_superseded").unwrap();
    assert!(superseded > 0);
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE NOT is_superseded"), Some(10));
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE is_superseded AND step_id = 'load'"), Some(0));
    let whole = "SELECT count(*) FROM (SELECT count(*) AS systems FROM trial WHERE is_superseded
                 GROUP BY step_id, clients, round HAVING systems <> 2)";
    assert_eq!(bench.value(whole), Some(0), "a step is run again by all systems");
    let late = "SELECT min(new.position > old.position) FROM trial new JOIN trial old
                USING (run_id, step_id, clients, system_id, round) WHERE old.is_superseded AND NOT new.is_superseded";
    assert_eq!(bench.value(late), Some(true));
    assert_eq!(bench.dyno(&["results", "check"]).status, Some(0));
}
