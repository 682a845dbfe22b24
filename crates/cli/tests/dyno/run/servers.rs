//! Runs on real servers: what is measured, and what remains when a server fails.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::testing::{installation, pause, with_engine};
use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, NoDrivers, Observer, Plan, RunOptions, RunOutcome};
use dyno_testing::dyno_test;
use rustix::process::Signal;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send};

const MYSQL: &str = "mysql@5.6.24/innodb";
const MARIADB: &str = "mariadb@10.11/innodb";
const MYROCKS: &str = "mariadb@10.11/rocksdb";
const POSTGRES: &str = "postgres@18.4";

/// A plan of a load, a short step and a step of `last_seconds`, with one trial per system and step.
fn plan(systems: &[&str], settings: &str, last_seconds: f64) -> String {
    let system = |(at, engine): (usize, &&str)| {
        format!("[[system]]\nid = \"s{at}\"\nengine = \"{engine}\"\nsettings = {{ {settings} }}\n")
    };
    let systems = systems.iter().enumerate().map(system).collect::<Vec<_>>().concat();
    format!(
        "name = 'servers'\ntitle = 'Servers'\nbase = 's0'\nrounds = 1\nclients = [2]\nseconds = 0.5\n\
         rest_seconds_max = 0\n\
         [data]\ntables = 2\nrows = 100\n{systems}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'update'\ngroup = 'writes'\nworkload = 'oltp_update_index'\noperation = 'query'\n\
         [[step]]\nid = 'last'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         seconds = {last_seconds}\n\
         [[step]]\nid = 'after'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n"
    )
}

#[dyno_test(with_engine(MYSQL))]
fn a_run_compares_servers_of_several_kinds() {
    installation(MYROCKS).unwrap();
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MYSQL, MARIADB, MYROCKS], "max_connections = 50", 0.5));
    bench.dyno(&["run", "plan.toml"]).with(0);
    let measured = "SELECT count(*) FROM trial WHERE outcome = 'completed' AND operations > 0
                    AND server_user_cpu_us + server_system_cpu_us > 0 AND server_context_switches > 0
                    AND client_user_cpu_us + client_system_cpu_us > 0 AND disk_bytes_after > 0";
    assert_eq!(bench.value(measured), Some(12));
    assert_eq!(bench.value("SELECT DISTINCT operations FROM trial WHERE step_id = 'load'"), Some(200));
    for (system, version, storage_engine) in
        [("s0", "5.6.24", "InnoDB"), ("s1", "10.11", "InnoDB"), ("s2", "10.11", "ROCKSDB")]
    {
        let told: String =
            bench.value(&format!("SELECT engine_version FROM system WHERE id = '{system}'")).unwrap();
        assert!(told.starts_with(version), "{told}");
        let variable = |name: &str| {
            let sql = format!("SELECT value FROM variable WHERE system_id = '{system}' AND name = '{name}'");
            bench.value::<String>(&sql).unwrap()
        };
        assert_eq!(variable("max_connections"), "50");
        assert_eq!(variable("default_storage_engine"), storage_engine);
    }
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// No server executes an operation in a microsecond of CPU time. If only the server's first process were counted,
/// the measured CPU time would be that short.
#[dyno_test(with_engine(POSTGRES))]
fn a_server_of_a_process_a_connection_is_counted_whole() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[POSTGRES], "", 2.5));
    bench.dyno(&["run", "plan.toml"]).with(0);
    let whole =
        "SELECT server_user_cpu_us + server_system_cpu_us > operations AND server_context_switches > 100
                 FROM trial WHERE step_id = 'last'";
    assert_eq!(bench.value(whole), Some(true));
}

/// The first readings are complete before the load begins, and the last ones are taken after it has ended. So the
/// counters contain exactly the step's own updates, however few.
#[dyno_test(with_engine(MYSQL))]
fn counters_contain_all_of_a_step_without_warm_up() {
    let bench = Bench::new();
    let plan = plan(&[MYSQL, MARIADB], "", 0.5);
    let step = "id = 'update'\n";
    assert!(plan.contains(step));
    let plan = plan.replace(step, "id = 'update'\nevents = 2\n");
    bench.write("plan.toml", &format!("counters = ['Com_update']\n{plan}"));
    bench.dyno(&["run", "plan.toml", "--only", "update"]).with(0);
    let counted = "SELECT count(*) FROM counter_change
                   WHERE step_id = 'update' AND name LIKE '%.Com_update' AND change = 2";
    assert_eq!(bench.value(counted), Some(2));
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_dies_fails_its_trial_only() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB], "", 3600.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 2);
    eventually("the load is there", || !bench.load_processes().is_empty());
    send(bench.servers()[0], Signal::KILL);
    let ended = finish(dyno).with(1);
    assert!(ended.stderr.contains("error: 1 of 4 trials failed"), "{}", ended.stderr);
    let failure = "FROM trial WHERE step_id = 'last' AND outcome = 'failed'";
    let message: String = bench.value(&format!("SELECT message {failure}")).unwrap();
    assert!(message.starts_with("the server died: "), "{message}");
    let log: String = bench.value(&format!("SELECT log_tail {failure}")).unwrap();
    assert!(log.contains("ready for connections"), "{log}");
    assert_eq!(bench.value("SELECT operations > 0 FROM trial WHERE step_id = 'after'"), Some(true));
    assert!(bench.leftovers().is_empty());
}

/// A load kills the second of two servers. In the step `own` this is the second server's own load, in `other` the
/// load of the first server. The script leaves a file, so that it kills the server only once.
#[dyno_test(with_engine(MARIADB))]
fn a_server_that_dies_while_systems_take_turns_fails_its_trial_only() {
    let step = |id: &str| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'all'\nworkload = './killing.lua'\noperation = 'query'\n\
             options = {{ killer = '{id}' }}\n"
        )
    };
    let system = |id: &str, connections: u32| {
        format!(
            "[[system]]\nid = '{id}'\nengine = '{MARIADB}'\nsettings = {{ max_connections = {connections} }}\n"
        )
    };
    let bench = Bench::new();
    bench.write("killing.lua", include_str!("scripts/killing.lua"));
    bench.let_all_write();
    let head = "name = 'k'\ntitle = 'Killed'\nbase = 's0'\nrounds = 2\nclients = [1]\nseconds = 0.4\n\
                rest_seconds_max = 0\n";
    bench.write(
        "plan.toml",
        &[head, &system("s0", 50), &system("s1", 51), &step("own"), &step("other")].concat(),
    );
    let ended = bench.dyno(&["run", "plan.toml", "--no-html"]).with(1);
    assert!(ended.stderr.contains("error: 2 of 8 trials failed"), "{}", ended.stderr);
    let failed = "SELECT group_concat(step_id || ' ' || system_id || ' ' || round, ', ' ORDER BY position) FROM trial
                  WHERE outcome = 'failed' AND message LIKE 'the server died: %' AND log_tail LIKE '%ready for%'";
    assert_eq!(bench.value(failed), Some("own s1 0, other s1 0".to_owned()));
    let others = "SELECT count(DISTINCT trial.id) FROM trial JOIN slice ON slice.trial_id = trial.id
                  WHERE outcome = 'completed' AND slice.operations > 0";
    assert_eq!(bench.value(others), Some(6));
    assert_eq!(bench.value("SELECT count(*) FROM instance WHERE is_fresh"), Some(4));
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// Longer than the pauses of a busy machine, but short enough for a test.
const LITTLE_PATIENCE: Duration = Duration::from_secs(3);

/// An observer that stops a server's process. It does so when the systems begin to take turns or, if `amid`, while they
/// are measured.
struct Stopper<'a> {
    bench: &'a Bench,
    step: &'static str,
    /// A part of the server's command line, which identifies the server.
    server: &'static str,
    amid: bool,
    done: bool,
}

impl Observer for Stopper<'_> {
    fn observe(&mut self, event: &Event<'_>) {
        let trial = match event {
            Event::SlicesStarted { trial, .. } if !self.amid => trial,
            Event::Ticked { trial, .. } if self.amid => trial,
            _ => return,
        };
        if trial.step.id == self.step && !self.done {
            let is_it =
                |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap().contains(self.server);
            pause(self.bench.servers().into_iter().find(is_it).unwrap());
            self.done = true;
        }
    }
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_hangs_while_it_rests_fails_its_trial_only() {
    let bench = Bench::new();
    // If servers were frozen between slices, Dyno would continue the stopped server.
    let text =
        plan(&[MARIADB, MARIADB], "", 2.5).replacen("rounds = 1", "freeze = false\nrounds = 2", 1).replacen(
            "id = \"s1\"\nengine = \"mariadb@10.11/innodb\"\nsettings = {  }",
            "id = \"s1\"\nengine = \"mariadb@10.11/innodb\"\nsettings = { max_connections = 51 }",
            1,
        );
    let mut stopper =
        Stopper { bench: &bench, step: "last", server: "max_connections=51", amid: true, done: false };
    let ended = run_plan(&bench, &text, &mut stopper, LITTLE_PATIENCE);
    assert_eq!((ended.completed_trials, ended.failed_trials), (13, 1));
    assert_eq!(
        bench.value("SELECT system_id || round || message FROM trial WHERE outcome = 'failed'"),
        Some("s10nothing was finished for 3 s, and the server does not answer; it was killed".to_owned())
    );
    let slices = "SELECT group_concat(slices, ' ') FROM (SELECT count(*) AS slices FROM slice
                  JOIN trial ON trial.id = trial_id WHERE step_id = 'last' GROUP BY round, system_id)";
    let slices: String = bench.value(slices).unwrap();
    let slices: Vec<u32> = slices.split(' ').map(|number| number.parse().unwrap()).collect();
    assert!(slices[1] < slices[0] && slices[0] == slices[2] && slices[2] == slices[3], "{slices:?}");
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_hangs_fails_its_trial_only() {
    let bench = Bench::new();
    let text = plan(&[MARIADB], "", 3600.0);
    let mut stopper = Stopper { bench: &bench, step: "last", server: "", amid: false, done: false };
    let ended = run_plan(&bench, &text, &mut stopper, LITTLE_PATIENCE);
    assert_eq!((ended.completed_trials, ended.failed_trials), (3, 1));
    assert_eq!(
        bench.value("SELECT message FROM trial WHERE step_id = 'last'"),
        Some("nothing was finished for 3 s, and the server does not answer; it was killed".to_owned())
    );
}

/// Runs a plan in this process.
pub(crate) fn run_plan(
    bench: &Bench,
    text: &str,
    observer: &mut dyn Observer,
    patience: Duration,
) -> RunOutcome {
    let plan = Plan::parse(text, "plan.toml", Path::new(""), &Catalogue::builtin()).unwrap();
    let options = RunOptions {
        counts_disturbed: true,
        results: bench.path("dyno.db"),
        resume: false,
        task: None,
        strict: false,
        needs_all_systems: false,
        time_max: None,
        seed: 1,
        driver_program: env!("CARGO_BIN_EXE_dyno").into(),
        drivers: Box::new(NoDrivers),
        cache: Cache::new(bench.path("cache")),
        dyno_version: String::new(),
        command_line: String::new(),
        stop: &AtomicBool::new(false),
        patience,
    };
    dyno_lab::run(&plan, &options, observer).unwrap()
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_does_not_start_shows_its_log() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB], "innodb_bufer_pool_size = 1", 0.5));
    let ended = bench.dyno(&["run", "plan.toml"]).with(1);
    assert!(
        ended.stderr.contains("error: system `s0` does not start: mariadb@10.11 did not start"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("unknown variable 'innodb_bufer_pool_size=1'"), "{}", ended.stderr);
    assert_eq!(bench.value("SELECT status FROM run"), Some("failed".to_owned()));
    assert!(bench.leftovers().is_empty());
}

#[dyno_test(with_engine(MARIADB))]
fn ctrl_c_leaves_no_server() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB, MYROCKS], "", 3600.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 4);
    eventually("the systems take turns", || bench.load_processes().len() == 2);
    press_ctrl_c(&dyno);
    finish(dyno).with(130);
    assert_eq!(bench.count("trial"), 4);
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test(with_engine(MARIADB))]
fn kill_9_leaves_no_server_and_the_run_goes_on() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB, MYROCKS], "", 3.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 4);
    eventually("the systems take turns", || bench.load_processes().len() == 2);
    send(dyno.id(), Signal::KILL);
    assert_eq!(finish(dyno).status, None);
    eventually("servers and load process have ended", || bench.processes().is_empty());
    assert_eq!(bench.count("trial"), 4);
    bench.dyno(&["report"]).with(0);

    bench.dyno(&["run", "plan.toml", "--resume"]).with(0);
    let second = "SELECT count(*) FROM trial WHERE round = 1 AND outcome = 'completed' AND step_id <> 'load'";
    assert_eq!((bench.value(second), bench.count("trial")), (Some(6), 4 + 6));
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}
