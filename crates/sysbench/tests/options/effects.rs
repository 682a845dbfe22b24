//! Shows the effects of options.

use std::fs;

use crate::support::{Outcome, number_after, sysbench};

/// Runs a script with options.
fn run(script: &str, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.lua");
    fs::write(&path, script).unwrap();
    sysbench(&[&[path.to_str().unwrap(), "run"], options])
}

const NOTHING: &str = "function event() ffi.C.usleep(1000) end";

pub(crate) fn threads() {
    let out = run("function event() end", &["--threads=3", "--events=9"]).success();
    assert!(out.contains("Number of threads: 3\n"), "{out}");
}

pub(crate) fn events() {
    let out = run(NOTHING, &["--events=7", "--time=0"]).success();
    assert_eq!(number_after(&out, "total number of events:") as u32, 7);
}

pub(crate) fn time() {
    let out = run(NOTHING, &["--time=0.05"]).success();
    assert!(number_after(&out, "total time:") >= 0.05, "{out}");
}

pub(crate) fn warmup() {
    let out = run(NOTHING, &["--warmup-time=0.05", "--time=0.05"]).success();
    assert!(out.contains("Warming up for 0.05 seconds"), "{out}");
}

pub(crate) fn has_no_effect() {
    let out = run(NOTHING, &["--thread-stack-size=64K", "--events=1"]).success();
    assert!(out.starts_with("WARNING: --thread-stack-size has no effect here\n"), "{out}");
}

pub(crate) fn start_limit() {
    let slow = "function thread_init() ffi.C.usleep(60000000) end function event() end";
    let late = run(slow, &["--thread-init-timeout=1", "--scheduler=thread", "--events=1"]);
    assert!(late.status == 1 && late.out.contains("had opened their connections after 1 s"), "{late:?}");
}

pub(crate) fn rate() {
    let out = run("function event() end", &["--rate=200", "--events=2"]).success();
    assert!(out.contains("200/sec"), "{out}");
}

pub(crate) fn debug() {
    let out = run(NOTHING, &["--debug", "--events=1"]).success();
    assert!(out.contains("DEBUG: "), "{out}");
}

pub(crate) fn validate() {
    let script = "function event() print(sysbench.opt.validate) end";
    let printed =
        |options: &[&str]| run(script, &[&["--events=1", "--verbosity=0"], options].concat()).success();
    assert_eq!((printed(&[]).as_str(), printed(&["--validate"]).as_str()), ("false\n", "true\n"));
}

pub(crate) fn help() {
    assert!(sysbench(&[&["--help"]]).success().starts_with("Usage:\n"));
}

pub(crate) fn version() {
    assert!(sysbench(&[&["--version"]]).success().starts_with("sysbench 1.0.20"));
}

pub(crate) fn config_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "threads=3\n").unwrap();
    let option = format!("--config-file={}", file.path().display());
    let out = run("function event() end", &[&option, "--events=9"]).success();
    assert!(out.contains("Number of threads: 3\n"), "{out}");
}

pub(crate) fn luajit_command() {
    let script = "function event() print((jit.status())) end";
    let printed = |command: &str| run(script, &[command, "--events=1", "--verbosity=0"]).success();
    assert_eq!(printed("--luajit-cmd=off"), "false\n");
    assert_eq!(printed("--luajit-cmd=on"), "true\n");
}

pub(crate) fn old_names() {
    let script = "function event() ffi.C.usleep(1000) end
        function done() print(num_threads, max_requests, max_time, tx_rate) end";
    let out =
        run(script, &["--num-threads=2", "--max-requests=4", "--max-time=9", "--tx-rate=500"]).success();
    assert_eq!(out.matches("is deprecated, use").count(), 4, "{out}");
    assert_eq!(number_after(&out, "total number of events:") as u32, 4);
    assert!(out.contains("Number of threads: 2\n") && out.ends_with("2\t4\t9\t500\n"), "{out}");
}

/// Draws 1,000 random numbers from 1 to 1,000, and counts those that are at most 100.
fn low_numbers(options: &[&str]) -> u32 {
    let script = "function event()
        local low = 0
        for _ = 1, 1000 do low = low + (sysbench.rand.default(1, 1000) <= 100 and 1 or 0) end
        print(low)
      end";
    let fixed = ["--rand-seed=5", "--events=1", "--verbosity=0"];
    run(script, &[&fixed, options].concat()).success().trim().parse().unwrap()
}

pub(crate) fn distributions() {
    for (options, least, most) in [
        (&["--rand-type=uniform"][..], 60, 140),
        (&["--rand-type=gaussian"], 0, 5),
        (&["--rand-type=gaussian", "--rand-spec-iter=1"], 60, 140),
        (&["--rand-type=special"], 0, 5),
        (&["--rand-type=special", "--rand-spec-pct=100", "--rand-spec-res=100"], 60, 140),
        (&["--rand-type=special", "--rand-spec-res=0", "--rand-spec-iter=1"], 60, 140),
        (&["--rand-type=pareto"], 600, 800),
        (&["--rand-type=pareto", "--rand-pareto-h=0.5"], 60, 140),
        (&["--rand-type=zipfian"], 400, 700),
        (&["--rand-type=zipfian", "--rand-zipfian-exp=0"], 60, 140),
    ] {
        let low = low_numbers(options);
        assert!((least..=most).contains(&low), "{options:?}: {low}");
    }
}

pub(crate) fn seed() {
    let script = "function event() print(sysbench.rand.uniform(1, 1000000000)) end";
    let drawn = |seed: &str| run(script, &[seed, "--events=3", "--verbosity=0"]).success();
    assert_eq!(drawn("--rand-seed=5"), drawn("--rand-seed=5"));
    assert_ne!(drawn("--rand-seed=5"), drawn("--rand-seed=6"));
}

pub(crate) fn verbosity() {
    assert_eq!(run(NOTHING, &["--verbosity=0", "--events=1"]).success(), "");
}

pub(crate) fn interval() {
    let out = run(NOTHING, &["--report-interval=0.1", "--time=0.35"]).success();
    assert!(out.matches(" eps: ").count() >= 2, "{out}");
}

pub(crate) fn checkpoints() {
    let out = run(NOTHING, &["--report-checkpoints=1", "--time=1.5"]).success();
    assert_eq!(out.matches("Checkpoint report:").count(), 1, "{out}");
}

pub(crate) fn percentiles() {
    let out = run(NOTHING, &["--percentile=50,99", "--events=3"]).success();
    assert!(out.contains("50th percentile:") && out.contains("99th percentile:"), "{out}");
}

pub(crate) fn histogram() {
    assert!(run(NOTHING, &["--histogram", "--events=3"]).success().contains("Latency histogram"));
}

const CONNECTS: &str = "function thread_init() con = sysbench.sql.driver():connect() end
    function event() con:query('CREATE TABLE IF NOT EXISTS t (a INTEGER)') end";

pub(crate) fn driver() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("here.db");
    let database = format!("--sqlite-db={}", file.display());
    run(CONNECTS, &["--db-driver=sqlite", &database, "--events=1"]).success();
    assert!(file.exists());
}

pub(crate) fn database_debug() {
    let options = ["--db-driver=sqlite", "--sqlite-db=:memory:", "--events=1"];
    let says =
        |more: &[&str]| run(CONNECTS, &[&options, more].concat()).success().contains("query CREATE TABLE");
    assert!(says(&["--db-debug"]) && !says(&[]));
}

pub(crate) fn spacing() {
    let script = "function event() end";
    let evenly = ["--rate=1000", "--rate-spacing=constant", "--threads=1", "--events=50"];
    assert!(number_after(&run(script, &evenly).success(), "total time:") >= 0.045);
}

pub(crate) fn think_time() {
    let out = run("function event() end", &["--think-time=0.02", "--events=4"]).success();
    assert!(number_after(&out, "total time:") >= 0.06, "{out}");
}

pub(crate) fn scheduler() {
    let load = |options: &[&str]| {
        let out = run(NOTHING, &[&["--debug", "--threads=4", "--events=8"], options].concat()).success();
        out.lines().find_map(|line| line.split_once("load by ")).map(|(_, load)| load.to_owned()).unwrap()
    };
    assert!(load(&["--scheduler=thread"]).starts_with("a thread a connection"));
    let epoll = load(&["--scheduler=event", "--io=epoll", "--loops=2"]);
    assert_eq!(epoll, "event loop (epoll) on 2 thread(s)");
    assert!(load(&["--scheduler=event", "--loops=1"]).ends_with("on 1 thread(s)"));
}

pub(crate) fn format() {
    let out = run(NOTHING, &["--format=json", "--events=3"]).success();
    assert!(out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{out}");
}

pub(crate) fn compat() {
    let out = run(NOTHING, &["--compat=1.1", "--events=3"]).success();
    assert!(out.starts_with("sysbench 1.1") && out.contains("Throughput:"), "{out}");
}

pub(crate) fn of_cpu() {
    let out = sysbench(&[&["cpu", "--cpu-max-prime=77", "--events=3", "run"]]).success();
    assert!(out.contains("Prime numbers limit: 77\n"), "{out}");
}
