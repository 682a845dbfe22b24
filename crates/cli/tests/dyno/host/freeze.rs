//! Servers that are frozen while others have their slices.

use std::fs;
use std::time::Duration;

use dyno_engine::testing::{installation, with_engine};
use dyno_lab::{Event, Observer};
use dyno_testing::dyno_test;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, eventually, finish, press_ctrl_c, send};
use crate::run::servers::run_plan;

const MARIADB: &str = "mariadb@10.11/innodb";
const POSTGRES: &str = "postgres@18.4";
const CLIENTS: usize = 3;

/// A plan whose trials are shorter than the interval between two readings of counters, because a server is thawed
/// for each reading.
fn plan(workload: &str, freeze: &str) -> String {
    let systems = system("s0", MARIADB, "") + &system("s1", MARIADB, "max_connect_errors = 4242");
    format!(
        "name = 'f'\ntitle = 'Frozen'\nbase = 's0'\nrounds = 1\nclients = [1]\nseconds = 0.8\nslice_seconds = 0.05\n\
         rest_seconds_max = 0\n{freeze}{systems}\
         [[step]]\nid = 'one'\ngroup = 'all'\nworkload = './{workload}'\noperation = 'query'\n"
    )
}

fn system(id: &str, engine: &str, settings: &str) -> String {
    format!("[[system]]\nid = '{id}'\nengine = '{engine}'\nsettings = {{ {settings} }}\n")
}

/// The CPU time between slices as a share of the CPU time in slices, for the server that also computes without any
/// load.
fn rest_share(bench: &Bench) -> f64 {
    let share = "SELECT 1.0 * rest_cpu_us / (server_user_cpu_us + server_system_cpu_us) FROM trial
                 WHERE system_id = 's1' AND outcome = 'completed'";
    bench.value(share).unwrap()
}

#[dyno_test(with_engine(MARIADB))]
fn a_resting_server_does_nothing_unless_the_plan_lets_it() {
    for (key, is_frozen) in [("", true), ("freeze = false\n", false)] {
        let bench = Bench::new();
        bench.write("working.lua", include_str!("working.lua"));
        bench.let_all_write();
        bench.write("plan.toml", &plan("working.lua", key));
        bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
        let share = rest_share(&bench);
        let report = bench.dyno(&["report", "--format", "json"]).with(0).stdout;
        if is_frozen {
            assert!(share < 0.02, "{share}");
        } else {
            assert!(share > 0.2, "{share}");
        }
        assert_eq!(report.contains("works_between_slices"), !is_frozen, "{report}");
        let frozen = "SELECT group_concat(coalesce(thaw_us > 0, 'no')) FROM trial";
        let wanted = if is_frozen { "1,1" } else { "no,no" };
        assert_eq!(bench.value(frozen), Some(wanted.to_owned()));
    }
}

struct Quiet;

impl Observer for Quiet {
    fn observe(&mut self, _event: &Event<'_>) {}
}

#[dyno_test(with_engine(MARIADB))]
fn a_server_that_hangs_in_its_slice_is_ended() {
    let bench = Bench::new();
    bench.write("sleeping.lua", include_str!("sleeping.lua"));
    bench.let_all_write();
    let workload = bench.path("sleeping.lua").display().to_string();
    let text = plan("sleeping.lua", "").replace("./sleeping.lua", &workload);
    let ended = run_plan(&bench, &text, &mut Quiet, Duration::from_secs(3));
    assert_eq!((ended.completed_trials, ended.failed_trials), (1, 1));
    let message = "SELECT message FROM trial WHERE system_id = 's1' AND outcome = 'failed'";
    let hung = "nothing was finished for 3 s, though the server answers other connections; it was killed";
    assert_eq!(bench.value(message), Some(hung.to_owned()));
    assert!(bench.processes().is_empty());
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// A plan for a long run of PostgreSQL and another server. Its slices are long enough to be observed.
fn lasting_plan(seconds: u32) -> String {
    format!(
        "name = 'l'\ntitle = 'Lasting'\nbase = 's0'\nrounds = 1\nclients = [{CLIENTS}]\nseconds = {seconds}\n\
         slice_seconds = 0.3\nrest_seconds_max = 0\n[data]\ntables = 1\nrows = 100\n{}{}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'one'\ngroup = 'all'\nworkload = 'oltp_point_select'\noperation = 'query'\n",
        system("s0", MARIADB, ""),
        system("s1", POSTGRES, ""),
    )
}

/// States of the processes of this bench's PostgreSQL, as `/proc/pid/stat` has them (proc(5)). The processes are
/// found by their working folder, which is the data folder. PostgreSQL overwrites their environment with a title
/// for `ps`.
fn states(bench: &Bench) -> Vec<char> {
    let cache = fs::canonicalize(bench.path("cache")).unwrap();
    let state = |process: fs::DirEntry| {
        let works_here = fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&cache));
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, fields) = stat.rsplit_once(") ")?;
        (works_here && name.ends_with("(postgres")).then(|| fields.chars().next()).flatten()
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(state).collect()
}

/// Whether every process of PostgreSQL is stopped, including those of its connections.
fn is_frozen(bench: &Bench) -> bool {
    let states = states(bench);
    states.len() > CLIENTS && states.iter().all(|state| *state == 'T')
}

#[dyno_test(with_engine(POSTGRES))]
fn every_process_of_a_server_is_frozen_and_thawed_again() {
    installation(MARIADB).unwrap();
    let bench = Bench::new();
    bench.write("plan.toml", &lasting_plan(4));
    let dyno = bench.start_until(&["run", "plan.toml", "--no-html"], 2);
    for _ in 0..2 {
        eventually("all of its processes are stopped", || is_frozen(&bench));
        eventually("none of them is", || !states(&bench).contains(&'T'));
    }
    finish(dyno).with(0);
    let measured =
        "SELECT count(*) FROM trial WHERE step_id = 'one' AND outcome = 'completed' AND operations > 0
                    AND thaw_us > 0 AND rest_cpu_us < (server_user_cpu_us + server_system_cpu_us) / 10";
    assert_eq!(bench.value(measured), Some(2));
    let read = "SELECT count(DISTINCT trial_id) FROM trial_counter JOIN trial ON trial.id = trial_id WHERE step_id = 'one'";
    assert_eq!(bench.value(read), Some(2), "counters are read");
    assert!(bench.processes().is_empty());
}

#[dyno_test(with_engine(POSTGRES))]
fn ctrl_c_leaves_no_frozen_server() {
    installation(MARIADB).unwrap();
    let bench = Bench::new();
    bench.write("plan.toml", &lasting_plan(3600));
    let dyno = bench.start_until(&["run", "plan.toml"], 2);
    eventually("PostgreSQL rests", || is_frozen(&bench));
    press_ctrl_c(&dyno);
    finish(dyno).with(130);
    assert!(bench.processes().is_empty());
    assert_eq!(states(&bench), []);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test(with_engine(POSTGRES))]
fn kill_9_leaves_no_frozen_server() {
    installation(MARIADB).unwrap();
    let bench = Bench::new();
    bench.write("plan.toml", &lasting_plan(3600));
    let dyno = bench.start_until(&["run", "plan.toml"], 2);
    eventually("PostgreSQL rests", || is_frozen(&bench));
    let loads = bench.load_processes();
    send(dyno.id(), Signal::KILL);
    for load in loads {
        // The process may have ended already.
        let _ = kill_process(Pid::from_raw(load.cast_signed()).unwrap(), Signal::KILL);
    }
    assert_eq!(finish(dyno).status, None);
    bench.write("next.toml", &lasting_plan(1));
    bench.dyno(&["run", "next.toml", "--no-html"]).with(0);
    assert!(bench.processes().is_empty());
    assert_eq!(states(&bench), []);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

#[dyno_test(with_engine(MARIADB))]
fn what_is_no_server_of_dynos_is_not_frozen() {
    let bench = Bench::new();
    let plan = format!(
        "name = 'n'\ntitle = 'Not frozen'\nbase = 's0'\nrounds = 1\nclients = [1]\nseconds = 0.4\nslice_seconds = 0.05\n\
         rest_seconds_max = 0\n[data]\ntables = 1\nrows = 100\n{}{}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'turns'\ngroup = 'all'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         [[step]]\nid = 'alone'\ngroup = 'all'\nworkload = 'oltp_point_select'\noperation = 'query'\nnot_for = ['s1']\n\
         [[step]]\nid = 'whole'\ngroup = 'all'\nworkload = 'oltp_point_select'\noperation = 'query'\n\
         slice_seconds = 'whole'\n",
        system("s0", MARIADB, ""),
        system("s1", "sqlite", ""),
    );
    bench.write("plan.toml", &plan);
    bench.dyno(&["run", "plan.toml", "--no-html"]).with(0);
    let frozen = "SELECT group_concat(step_id || ' ' || system_id) FROM trial WHERE thaw_us IS NOT NULL";
    assert_eq!(bench.value(frozen), Some("turns s0".to_owned()));
}
