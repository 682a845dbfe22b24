//! Limits of systems, read back from the kernel, and limits that could not be set. The tests need root and
//! cgroups; otherwise they are ignored with the reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dyno_engine::Installation;
use dyno_engine::testing::{confined, go_on, pause};
use dyno_host::{Confinement, IoLimits};
use dyno_lab::{Event, Observer};
use dyno_testing::{Completion, Trial, dyno_test};
use rustix::process::geteuid;
use serde_json::Value;

use crate::bench::{Bench, Ended, eventually, finish, unwrapped};
use crate::run::servers::run_plan;

const MARIADB: &str = "mariadb@10.11";
/// Time after which `dyno run` considers a server as hung. On a busy machine, a slow server must not reach it.
const PATIENCE: Duration = Duration::from_secs(60);
/// A load process that uses more memory than this runs the greedy script. Other load processes use a fraction of
/// it.
const GREEDY_KIB: u64 = 64 << 10;
/// A number that no other test uses as a limit.
const LIMIT_IOPS: u64 = 54_321;

fn memory_limit() -> Confinement {
    Confinement { memory_bytes: Some(512 << 20), ..Confinement::default() }
}

fn io_limit() -> Confinement {
    let io = IoLimits { write_iops: Some(LIMIT_IOPS), ..IoLimits::default() };
    Confinement { io, ..Confinement::default() }
}

/// A plan of a load and three steps on one server.
fn plan(confinement: &str) -> String {
    let step = |id: &str| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n"
        )
    };
    let steps = ["before", "amid", "after"].map(step).concat();
    format!(
        "name = 'confined'\ntitle = 'Confined'\nbase = 'db'\nrounds = 1\nclients = [1]\nseconds = 1.2\n\
         slice_seconds = 'whole'\n[data]\ntables = 1\nrows = 100\n[confinement]\n{confinement}\n\
         [[system]]\nid = 'db'\nengine = '{MARIADB}'\n\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         {steps}"
    )
}

/// Lowers the memory limit of the server while a step is measured.
struct Changer<'a>(&'a Bench);

impl Observer for Changer<'_> {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::Ticked { trial, .. } = event
            && trial.step.id == "amid"
        {
            let group = memory_group(self.0.servers()[0]);
            let files = ["memory.limit_in_bytes", "memory.max"].map(|name| group.join(name));
            let file = files.iter().find(|file| file.exists()).unwrap();
            fs::write(file, (448 << 20).to_string()).unwrap();
        }
    }
}

/// The folder of the cgroup that limits a process's memory.
fn memory_group(pid: u32) -> PathBuf {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let is_memory = |line: &&str| line.contains(":memory:") || line.starts_with("0::");
    let line = groups.lines().find(|line| is_memory(line) && line.contains("/dyno-")).unwrap();
    let path = line.rsplit(':').next().unwrap().trim_start_matches('/');
    let tops = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    tops.into_iter().map(|top| top.join(path)).find(|folder| folder.exists()).unwrap()
}

#[dyno_test(confined(&[MARIADB], memory_limit))]
fn a_limit_that_is_changed_marks_its_trials(_: &Installation, _: &str) {
    let bench = Bench::new();
    let ended = run_plan(&bench, &plan("memory = '512M'\nclient_cpus = 0"), &mut Changer(&bench), PATIENCE);
    let failures = bench.value::<String>("SELECT group_concat(message) FROM trial");
    assert_eq!((ended.completed_trials, ended.failed_trials), (4, 0), "{failures:?}");
    let of = |step: &str, what: &str| {
        bench.value::<String>(&format!("SELECT limits ->> '{what}' FROM trial WHERE step_id = '{step}'"))
    };
    let memory = Some((512 << 20).to_string());
    let is_memory = |step: &str| {
        let sql = format!("SELECT limits ->> '$.in_force.memory_bytes' FROM trial WHERE step_id = '{step}'");
        bench.value::<i64>(&sql).map(|bytes| bytes.to_string()) == memory
    };
    assert!(is_memory("before") && is_memory("amid") && !is_memory("after"));
    assert_eq!(of("before", "$.differences"), Some("[]".to_owned()));
    for step in ["before", "amid", "after"] {
        assert_eq!(of(step, "$.in_force.client_cpus"), Some("0".to_owned()), "{step}");
    }
    for step in ["amid", "after"] {
        assert_eq!(of(step, "$.differences[0].limit"), Some("memory".to_owned()), "{step}");
        assert_eq!(of(step, "$.differences[0].asked"), Some("512M".to_owned()), "{step}");
        assert_eq!(of(step, "$.differences[0].found"), Some("448M".to_owned()), "{step}");
    }
    let report = |format: &str| {
        bench.dyno(&["report", "--format", format, "--out", "report"]);
        fs::read_to_string(bench.path("report")).unwrap()
    };
    let words = "limits differed from the plan's in 1 of 1 round: memory was 448M, not 512M";
    for format in ["text", "markdown", "html"] {
        assert!(unwrapped(&report(format)).contains(words), "{format}");
    }
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    let checks = json["trial_checks"].as_array().unwrap();
    let marked: Vec<&str> = checks
        .iter()
        .filter(|check| !check["limits"].as_array().unwrap().is_empty())
        .map(|check| check["step"].as_str().unwrap())
        .collect();
    assert_eq!(marked, ["amid", "after"]);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// Moves the load process into the cgroup of its server, and sets the group's memory limit to 16 MiB above the
/// current usage. The server uses more memory than the load process, so only the OOM score makes the kernel kill the
/// load process. The step is much longer than the time until the kill. The server is paused until the load process
/// has ended. On a busy host a killed process ends slowly, and until then the kernel would also kill a server that
/// requests memory.
#[dyno_test(confined(&[MARIADB], memory_limit))]
fn the_load_process_is_killed_before_the_server(_: &Installation, _: &str) {
    let bench = Bench::new();
    bench.write("greedy.lua", include_str!("greedy.lua"));
    let greedy = format!(
        "[[step]]\nid = 'amid'\nseconds = 600\ngroup = 'reads'\nworkload = '{}'\noperation = 'query'\n",
        bench.path("greedy.lua").display(),
    );
    let plan = plan("memory = '512M'");
    let (start, _) = plan.split_once("[[step]]\nid = 'amid'").unwrap();
    let (_, end) = plan.split_once("[[step]]\nid = 'after'").unwrap();
    bench.write("plan.toml", &format!("{start}{greedy}[[step]]\nid = 'after'{end}"));
    let dyno = bench.start_until(&["run", "plan.toml"], 2);
    let greedy = || bench.load_processes().into_iter().find(|pid| memory_kib(*pid) > GREEDY_KIB);
    eventually("a greedy load", || greedy().is_some());
    let server = bench.servers()[0];
    let group = memory_group(server);
    let load = greedy().unwrap();
    pause(server);
    fs::write(group.join("cgroup.procs"), load.to_string()).unwrap();
    let file = |names: [&str; 2]| names.map(|name| group.join(name)).into_iter().find(|file| file.exists());
    let used = file(["memory.usage_in_bytes", "memory.current"]).unwrap();
    let limit = file(["memory.limit_in_bytes", "memory.max"]).unwrap();
    // The write fails if the usage has exceeded the new limit since it was read.
    eventually("a limit", || {
        let used_bytes: u64 = fs::read_to_string(&used).unwrap().trim().parse().unwrap();
        fs::write(&limit, (used_bytes + (16 << 20)).to_string()).is_ok()
    });
    // The load process is gone once its parent has waited for it. Its memory is free then.
    eventually("the end of the load", || !Path::new(&format!("/proc/{load}")).exists());
    go_on(server);
    let ended = finish(dyno);
    let message: String = bench
        .value("SELECT message FROM trial WHERE step_id = 'amid' AND round = 0")
        .expect("a failed trial");
    let killed = "the kernel killed it for lack of memory beyond its limit";
    assert!(message.contains("the load process ended") && message.contains(killed), "{message}");
    assert!(!message.contains("the server died"), "{message}");
    let after = "SELECT outcome FROM trial WHERE step_id = 'after' AND round = 0";
    assert_eq!(bench.value(after), Some("completed".to_owned()), "{}", ended.stderr);
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// Memory of a process, in KiB; 0 if it has ended.
fn memory_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _event: &Event<'_>) {}
}

/// The script of the loads fails unless the kernel has the expected limits.
#[dyno_test(confined(&[MARIADB], io_limit))]
fn a_load_may_be_without_limits_of_io(_: &Installation, _: &str) {
    let bench = Bench::new();
    bench.write("io_limit.lua", include_str!("io_limit.lua"));
    let load = |id: &str, key: &str, is_limited: u32| {
        format!(
            "[[step]]\nid = '{id}'\ngroup = 'load'\ncommand = 'prepare'\nworkload = '{}'\noperation = 'row'\n{key}\n\
             options = {{ write_iops = {LIMIT_IOPS}, is_limited = {is_limited} }}\n",
            bench.path("io_limit.lua").display(),
        )
    };
    let loads = [
        load("lifted", "limit_io = false", 0),
        load("limited", "limit_io = true", 1),
        load("silent", "", 1),
        load("wrong", "", 0),
    ];
    let plan = plan(&format!("volume = '1G'\nwrite_iops = {LIMIT_IOPS}"));
    let (systems, _) = plan.split_once("[[step]]").unwrap();
    let ended = run_plan(&bench, &(systems.to_owned() + &loads.concat()), &mut Silent, PATIENCE);
    assert_eq!((ended.completed_trials, ended.failed_trials), (3, 1));
    let message: String =
        bench.value("SELECT message FROM trial WHERE step_id = 'wrong' AND outcome = 'failed'").unwrap();
    assert!(message.contains("the limit is in force: true"), "{message}");
    let limits =
        "SELECT min(limits ->> '$.in_force.write_iops') FROM trial WHERE limits ->> '$.differences' = '[]'";
    assert_eq!(bench.value(limits), Some(LIMIT_IOPS), "before the load and after it");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

/// If no cgroup hierarchy has cpusets, the kernel threads that work for a server run on any CPU.
#[dyno_test(as_root)]
fn what_cannot_be_limited_is_told_and_refused_if_wanted() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("server_cpus = '0'"));
    let dyno = |more: &str| -> Ended {
        let script = format!(
            "umount -l /sys/fs/cgroup/cpuset 2> /dev/null || umount -l /sys/fs/cgroup
             exec \"$0\" run plan.toml --seconds 0.1 {more}"
        );
        let dyno = bench.command(&[]);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script]).arg(dyno.get_program()).current_dir(bench.path(""));
        command.envs(dyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.output().unwrap().into()
    };
    let told = dyno("").with(0);
    let words = "db: the kernel's threads for the server (io_uring)";
    assert!(told.stderr.contains(words), "{}", told.stderr);
    let rule =
        "SELECT count(*) FROM run, json_each(audit -> '$.findings') WHERE value ->> 'rule' = 'not-limited'";
    assert_eq!(bench.value(rule), Some(1));
    let kept = "SELECT limits ->> '$.not_limited[0]' FROM trial WHERE step_id = 'before'";
    assert!(bench.value::<String>(kept).unwrap().starts_with("the kernel's threads"));
    let refused = dyno("--strict").with(1);
    let error = refused.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(error.contains("the systems are not comparable") && error.contains(words), "{error}");
    assert!(bench.leftovers().is_empty(), "{:?}", bench.leftovers());
}

fn as_root(name: &str, test: fn()) -> Vec<Trial> {
    vec![Trial::ignorable_test(name, move || {
        if !geteuid().is_root() {
            return Ok(Completion::ignored_with("only root may unmount cgroups"));
        }
        test();
        Ok(Completion::Completed)
    })]
}
