//! What runs on SQLite leave behind when they are stopped, killed, or fail.

use dyno_testing::{Completion, Failed, dyno_test, ignorable};
use rustix::process::Signal;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send, sqlite_plan};

/// Number of trials of the load and the first step in the first round. The next step of the plans here takes
/// an hour.
const QUICK_TRIALS: usize = 4;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("plan.toml", &sqlite_plan(3600.0));
    bench
}

#[dyno_test]
fn ctrl_c_keeps_what_was_measured() {
    let bench = bench();
    let dyno = bench.start_until(&["run", "plan.toml"], QUICK_TRIALS);
    press_ctrl_c(&dyno);
    let ended = finish(dyno).with(130);
    assert!(ended.stderr.contains("stopped: 4 of 10 trials are in dyno.db"), "{}", ended.stderr);
    for found in ["6 are missing: the run was interrupted.", "  point-query ", "dyno report 1 --full"] {
        assert!(ended.stdout.contains(found), "{found}: {}", ended.stdout);
    }
    assert_eq!(bench.value("SELECT status FROM run"), Some("interrupted".to_owned()));
    assert_eq!(bench.count("trial"), QUICK_TRIALS);
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty());
}

#[dyno_test]
fn kill_9_keeps_what_was_measured() {
    let bench = bench();
    let dyno = bench.start_until(&["run", "plan.toml"], QUICK_TRIALS);
    send(dyno.id(), Signal::KILL);
    assert_eq!(finish(dyno).status, None);
    eventually("the load process has ended", || bench.processes().is_empty());

    let report = bench.dyno(&["report"]).with(0);
    assert!(report.stdout.contains("killed"), "{}", report.stdout);
    assert_eq!(bench.count("trial"), QUICK_TRIALS);

    assert!(!bench.leftovers().is_empty());
    bench.dyno(&["run", "plan.toml", "--seconds", "0.05", "--rounds", "1"]).with(0);
    assert!(bench.leftovers().is_empty());
}

#[dyno_test]
fn a_command_of_a_plan_ends_with_its_lab() {
    let bench = bench();
    let id = "id = \"point-query\"\n";
    let hook = "before = \"sleep 1000 & touch begun; wait\"\n";
    bench.write("plan.toml", &sqlite_plan(3600.0).replacen(id, &format!("{id}{hook}"), 1));
    let lab = bench.start_until(&["run", "plan.toml"], 0);
    eventually("the command runs", || bench.path("begun").exists());
    send(lab.id(), Signal::KILL);
    assert_eq!(finish(lab).status, None);
    eventually("all ended", || bench.processes().is_empty());
}

/// Scripts that never return, either at their top level, which runs on the thread that ends a job, or in an event.
#[dyno_test]
fn a_load_process_ends_with_its_lab_whatever_its_script_does() {
    let blocks = ["while true do end", "require('ffi').C.sleep(1000)", "os.execute('sleep 1000')"];
    let places = [("if is_load then", "end function event() end"), ("function event()", "end")];
    let scripts = blocks.iter().flat_map(|block| {
        places.map(|(begin, end)| {
            format!(
                "local arguments = io.open('/proc/self/cmdline')
                 local is_load = arguments:read('*a'):find('drive')
                 arguments:close()
                 require('ffi').cdef('unsigned int sleep(unsigned int seconds);')
                 {begin} io.open('begun', 'w'):close() {block} {end}"
            )
        })
    });
    let labs: Vec<_> = scripts
        .map(|script| {
            let bench = bench();
            bench.let_all_write();
            bench.write("blocks.lua", &script);
            let plan = sqlite_plan(3600.0).replace("oltp_point_select", "blocks.lua");
            bench.write("plan.toml", &plan.replace("[data]\ntables = 1\nrows = 50\n", ""));
            let lab = bench.start_until(&["run", "plan.toml"], 0);
            (script, bench, lab)
        })
        .collect();
    for (script, bench, lab) in labs {
        eventually(&format!("{script} runs"), || bench.path("begun").exists());
        send(lab.id(), Signal::KILL);
        assert_eq!(finish(lab).status, None, "{script}");
        eventually(&format!("all ended: {script}"), || bench.processes().is_empty());
    }
}

#[dyno_test]
fn a_load_process_that_dies_fails_its_trial_only() {
    let bench = bench();
    bench.write("plan.toml", &sqlite_plan(1.0));
    let dyno = bench.start_until(&["run", "plan.toml"], QUICK_TRIALS);
    // The systems take turns, so each has its own load process.
    eventually("there are two load processes", || bench.load_processes().len() == 2);
    send(bench.load_processes()[0], Signal::KILL);
    let ended = finish(dyno).with(1);
    assert!(ended.stderr.contains("error: 1 of 10 trials failed"), "{}", ended.stderr);
    let message: String = bench.value("SELECT message FROM trial WHERE outcome = 'failed'").unwrap();
    assert!(message.contains("load process"), "{message}");
    assert_eq!(bench.value("SELECT count(*) FROM trial WHERE outcome = 'completed'"), Some(9));
}

#[dyno_test]
fn results_that_cannot_be_written_are_named() {
    let bench = bench();
    for words in ["no/such/folder/dyno.db: cannot be opened", "cache: is a folder, not a file"] {
        let results = words.split(':').next().unwrap();
        let ended = bench.dyno(&["run", "plan.toml", "--results", results]).with(1);
        assert!(ended.stderr.starts_with(&format!("error: {words}")), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
}

/// The results are in a small file system that only this `dyno` sees, and that fills up soon.
#[dyno_test(ignorable)]
fn a_full_disk_keeps_what_was_measured() -> Result<Completion, Failed> {
    let bench = bench();
    bench.write("plan.toml", &sqlite_plan(0.1));
    let Some(ended) = bench.on_a_small_disk("run plan.toml --rounds 100 --results small/dyno.db")? else {
        return Ok(Completion::ignored_with("this user may not mount a small disk"));
    };
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("could not be written; Dyno tries again"), "{}", ended.stderr);
    assert!(ended.stderr.contains("error: small/dyno.db: the disk is full"), "{}", ended.stderr);
    assert!(bench.count("trial") > 0);
    assert_eq!(bench.dyno(&["report"]).status, Some(0));
    assert!(bench.leftovers().is_empty());
    Ok(Completion::Completed)
}
