//! Runs on real servers: what is measured, and what is left when one of them fails.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::testing::{engine_test, installation};
use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, Observer, Plan, RunOptions};
use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send};

const MYSQL: &str = "mysql@5.6.24/innodb";
const MARIADB: &str = "mariadb@10.11/innodb";
const MYROCKS: &str = "mariadb@10.11/rocksdb";
const POSTGRES: &str = "postgres@18.4";

pub(crate) fn tests() -> Vec<Trial> {
    let test = |name: &str, test: fn()| engine_test(&format!("servers::{name}"), MARIADB, move |_| test());
    vec![
        engine_test("servers::a_run_compares_servers_of_several_kinds", MYSQL, |_| {
            a_run_compares_servers_of_several_kinds();
        }),
        engine_test("servers::a_server_of_a_process_a_connection_is_counted_whole", POSTGRES, |_| {
            a_server_of_a_process_a_connection_is_counted_whole();
        }),
        test("a_server_that_dies_fails_its_trial_only", a_server_that_dies_fails_its_trial_only),
        test("a_server_that_hangs_fails_its_trial_only", a_server_that_hangs_fails_its_trial_only),
        test("a_server_that_does_not_start_shows_its_log", a_server_that_does_not_start_shows_its_log),
        test("ctrl_c_leaves_no_server", ctrl_c_leaves_no_server),
        test("kill_9_leaves_no_server", kill_9_leaves_no_server),
    ]
}

/// A plan of a load, a short step and one of `last_seconds`, with a trial of each system in each.
fn plan(systems: &[&str], settings: &str, last_seconds: f64) -> String {
    let system = |(at, engine): (usize, &&str)| {
        format!("[[system]]\nid = \"s{at}\"\nengine = \"{engine}\"\nsettings = {{ {settings} }}\n")
    };
    let systems = systems.iter().enumerate().map(system).collect::<Vec<_>>().concat();
    format!(
        "name = 'servers'\ntitle = 'Servers'\nbase = 's0'\nrounds = 1\nclients = [2]\nseconds = 0.5\n\
         [data]\ntables = 2\nrows = 100\n{systems}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'update'\ngroup = 'writes'\nworkload = 'oltp_update_index'\noperation = 'query'\n\
         [[step]]\nid = 'last'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         seconds = {last_seconds}\n\
         [[step]]\nid = 'after'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n"
    )
}

fn a_run_compares_servers_of_several_kinds() {
    installation(MYROCKS).unwrap();
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MYSQL, MARIADB, MYROCKS], "max_connections = 50", 0.5));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
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

/// No server does an operation in a microsecond, as it would seem to if only its first process were looked at.
fn a_server_of_a_process_a_connection_is_counted_whole() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[POSTGRES], "", 2.5));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let whole =
        "SELECT server_user_cpu_us + server_system_cpu_us > operations AND server_context_switches > 100
                 FROM trial WHERE step_id = 'last'";
    assert_eq!(bench.value(whole), Some(true));
}

fn a_server_that_dies_fails_its_trial_only() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB], "", 3600.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 2);
    send(Signal::KILL, bench.server());
    let ended = finish(dyno);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("error: 1 of 4 trials failed"), "{}", ended.stderr);
    let failure = "FROM trial WHERE step_id = 'last' AND outcome = 'failed'";
    let message: String = bench.value(&format!("SELECT message {failure}")).unwrap();
    assert!(message.starts_with("the server died: "), "{message}");
    let log: String = bench.value(&format!("SELECT log_tail {failure}")).unwrap();
    assert!(log.contains("ready for connections"), "{log}");
    assert_eq!(bench.value("SELECT operations > 0 FROM trial WHERE step_id = 'after'"), Some(true));
    assert!(bench.leftovers().is_empty());
}

/// Stops a server's process when the trial of a step begins.
struct Stopper<'a> {
    bench: &'a Bench,
    step: &'static str,
}

impl Observer for Stopper<'_> {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::TrialStarted { trial, .. } = event
            && trial.step.id == self.step
        {
            send(Signal::STOP, self.bench.server());
        }
    }
}

fn a_server_that_hangs_fails_its_trial_only() {
    let bench = Bench::new();
    let text = plan(&[MARIADB], "", 3600.0);
    let plan = Plan::parse(&text, "plan.toml", Path::new(""), &Catalogue::builtin()).unwrap();
    let options = RunOptions {
        results: bench.path("dyno.db"),
        resume: false,
        strict: false,
        seed: 1,
        driver_program: env!("CARGO_BIN_EXE_dyno").into(),
        cache: Cache::new(bench.path("cache")),
        dyno_version: String::new(),
        command_line: String::new(),
        stop: &AtomicBool::new(false),
        patience: Duration::from_secs(1),
    };
    let ended = dyno_lab::run(&plan, &options, &mut Stopper { bench: &bench, step: "last" }).unwrap();
    assert_eq!((ended.completed_trials, ended.failed_trials), (3, 1));
    assert_eq!(
        bench.value("SELECT message FROM trial WHERE step_id = 'last'"),
        Some("nothing was finished for 1 s; the server was killed".to_owned())
    );
}

fn a_server_that_does_not_start_shows_its_log() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB], "innodb_bufer_pool_size = 1", 0.5));
    let ended = bench.dyno(&["run", "plan.toml"]);
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.stderr.contains("error: system `s0` does not start: mariadb@10.11 did not start"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("unknown variable 'innodb_bufer_pool_size=1'"), "{}", ended.stderr);
    assert_eq!(bench.value("SELECT status FROM run"), Some("failed".to_owned()));
    assert!(bench.leftovers().is_empty());
}

fn ctrl_c_leaves_no_server() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB, MYROCKS], "", 3600.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 4);
    press_ctrl_c(&dyno);
    let ended = finish(dyno);
    assert_eq!(ended.status, Some(130), "{}", ended.stderr);
    assert_eq!(bench.count("trial"), 4);
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

fn kill_9_leaves_no_server() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[MARIADB, MYROCKS], "", 3600.0));
    let dyno = bench.start_until(&["run", "plan.toml"], 4);
    send(Signal::KILL, dyno.id());
    assert_eq!(finish(dyno).status, None);
    eventually("servers and load process have ended", || bench.processes().is_empty());
    assert_eq!(bench.count("trial"), 4);
    let report = bench.dyno(&["report"]);
    assert_eq!(report.status, Some(0), "{}", report.stderr);
}
