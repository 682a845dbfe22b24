//! Rounds over ssh.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use dyno_testing::dyno_test;
use rustix::process::Signal;

use super::sshd::Hosts;
use super::{COMPLETE, Working, on, plan};
use crate::bench::{Bench, Ended, eventually, press_ctrl_c, send};

#[dyno_test(on(Hosts::start))]
fn rounds_are_submitted_up_to_each_look(bench: &Bench, hosts: &mut Hosts) {
    let keys = "rounds = \"until-decided\"\nrounds_max = 10";
    bench.write("plan.toml", &plan(0.1).replacen("rounds = 4", keys, 1));
    let ended = output(hosts.dyno(bench, &RUN)).with(0);
    // With at most ten rounds, verdicts are computed after seven and after ten.
    let rounds: Option<u32> = bench.value(COMPLETE);
    assert!([Some(7), Some(10)].contains(&rounds), "{rounds:?}");
    assert_eq!(ended.stderr.lines().next(), Some("submitted 7 rounds"), "{}", ended.stderr);
    assert_eq!(ended.stderr.contains("submitted 3 rounds"), rounds == Some(10), "{}", ended.stderr);
    assert_eq!(bench.value("SELECT max(round) + 1 FROM trial"), rounds);
}

#[dyno_test(on(Hosts::start))]
fn a_round_that_is_always_lost_is_given_up_and_the_others_stay(bench: &Bench, hosts: &mut Hosts) {
    bench.write("plan.toml", &plan(0.1));
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'--round 2 '*) echo no such disk >&2; exit 1;; esac\nexec '{dyno}' \"$@\"\n"
    );
    bench.write("broken", &script);
    fs::set_permissions(bench.path("broken"), fs::Permissions::from_mode(0o755)).unwrap();
    let broken = bench.path("broken").display().to_string();
    let failed = output(hosts.dyno(bench, &[&RUN[..], &["--remote-dyno", &broken]].concat())).with(1);
    assert!(
        failed.stderr.contains("round 3 failed 3 times, the last time because no such disk"),
        "{}",
        failed.stderr
    );
    assert_eq!((bench.value(COMPLETE), bench.count("attempt")), (Some(3), 3 + 3));
    assert_eq!(bench.value("SELECT status FROM run"), Some("failed".to_owned()));
    output(hosts.dyno(bench, &[&RUN[..], &["--resume"]].concat())).with(0);
    assert_eq!((bench.count("run"), bench.value(COMPLETE)), (1, Some(4)));
    assert_eq!(bench.value("SELECT count(DISTINCT round) FROM trial WHERE round < 4"), Some(4));
}

const RUN: [&str; 4] = ["run", "plan.toml", "--on", "ssh:a,b"];

#[dyno_test(on(Hosts::start))]
fn a_round_of_a_host_that_is_gone_goes_to_another(bench: &Bench, hosts: &mut Hosts) {
    // The plan needs other files in its folder.
    bench.write("common.lua", "return { text = 'SELECT 1' }");
    bench.write("mine.lua", "local common = require('common')\nfunction event() con:query(common.text) end\nfunction thread_init() con = sysbench.sql.driver():connect() end");
    let own = plan(2.0).replacen("workload = \"oltp_point_select\"", "workload = \"mine.lua\"", 1);
    assert!(own.contains("mine.lua"));
    bench.write("plan.toml", &own);
    let mut dyno = Working::start(bench, hosts.dyno(bench, &[&RUN[..], &["--full"]].concat()));
    dyno.wait_for("begins on b");
    hosts.b.vanish();
    let ended = dyno.finish().with(0);
    assert!(
        ended.stderr.contains("on b failed") && ended.stderr.contains("b gets no more rounds"),
        "{}",
        ended.stderr
    );
    assert_eq!((bench.count("run"), bench.value(COMPLETE)), (1, Some(4)));
    assert_eq!(bench.value("SELECT status FROM run"), Some("finished".to_owned()));
    let attempts = "SELECT group_concat(node || iif(loss IS NULL, '+', '-'), '' ORDER BY number)
                    FROM attempt WHERE round = (SELECT round FROM attempt WHERE loss IS NOT NULL)";
    assert_eq!(bench.value(attempts), Some("b-a+".to_owned()));
    let told = ended
        .stdout
        .lines()
        .any(|line| line.contains("An attempt at round") && line.contains("on b was lost"));
    assert!(told, "{}", ended.stdout);
    eventually("what was started on b has ended", || bench.processes().is_empty());
}

#[dyno_test(on(Hosts::start))]
fn ctrl_c_stops_the_tasks_and_resume_goes_on(bench: &Bench, hosts: &mut Hosts) {
    bench.write("plan.toml", &plan(1.0));
    let mut dyno = Working::start(bench, hosts.dyno(bench, &RUN));
    dyno.wait_for("[1/4]");
    press_ctrl_c(&dyno.child);
    dyno.finish().with(130);
    eventually("the tasks have ended", || bench.processes().is_empty());
    assert!(
        bench.leftovers().iter().all(|folder| !folder.starts_with(bench.path("cache"))),
        "{:?}",
        bench.leftovers()
    );
    let before: Option<u32> = bench.value(COMPLETE);
    assert!(before >= Some(1) && before < Some(4), "{before:?}");
    output(hosts.dyno(bench, &[&RUN[..], &["--resume"]].concat())).with(0);
    assert_eq!((bench.count("run"), bench.value(COMPLETE)), (1, Some(4)));
    // Each round was attempted once, so existing rounds were not repeated.
    assert_eq!(bench.count("attempt"), 4);
    assert!(!bench.path("dyno.db.tasks").exists());
}

#[dyno_test(on(Hosts::start))]
fn tasks_end_with_the_process_that_started_them(bench: &Bench, hosts: &mut Hosts) {
    bench.write("plan.toml", &plan(20.0));
    let mut dyno = Working::start(bench, hosts.dyno(bench, &RUN));
    dyno.wait_for("begins on b");
    eventually("both hosts have a load", || bench.load_processes().len() >= 2);
    send(dyno.child.id(), Signal::KILL);
    dyno.finish();
    eventually("the tasks have ended", || bench.processes().is_empty());
}

#[dyno_test(on(Hosts::start))]
fn hosts_that_cannot_be_used_are_told(bench: &Bench, hosts: &mut Hosts) {
    bench.write("plan.toml", &plan(0.1));
    hosts.a.vanish();
    let some =
        output(hosts.dyno(bench, &[&RUN[..], &["--remote-dyno", env!("CARGO_BIN_EXE_dyno")]].concat()));
    assert_eq!(some.status, Some(0), "{}", some.stderr);
    assert!(some.stderr.contains("a gets no rounds"), "{}", some.stderr);
    assert_eq!(bench.value(COMPLETE), Some(4));
    let none = output(hosts.dyno(bench, &[&RUN[..], &["--remote-dyno", "/nowhere/dyno"]].concat())).with(1);
    assert!(
        none.stderr.contains("no host is left") && none.stderr.contains("/nowhere/dyno"),
        "{}",
        none.stderr
    );
}

fn output(mut command: Command) -> Ended {
    command.output().unwrap().into()
}
