//! Every option: what it does, what it refuses, and which test shows it.

mod support;

use std::fs;
use std::path::Path;

use dyno_script::general_groups;
use support::{Outcome, number_after, sysbench};

/// What is known of an option.
struct Row {
    name: &'static str,
    /// Values that it cannot have.
    refused: &'static [&'static str],
    shown: Shown,
}

/// What shows that an option has its effect.
enum Shown {
    Here(fn()),
    /// A test of this name, in a file of the workspace's folder `crates`.
    By(&'static str, &'static str),
}

use Shown::{By, Here};

const fn row(name: &'static str, refused: &'static [&'static str], shown: Shown) -> Row {
    Row { name, refused, shown }
}

const SERVERS: &str = "sysbench/tests/servers.rs";
const TARGET: &str = "sysbench/src/target.rs";
const NO_NUMBERS: &[&str] = &["x", "-1", "nan", "inf", "1e999", ""];
const NO_WHOLE: &[&str] = &["x", "-1", "1.5", "18446744073709551616", ""];
const NO_FLAG: &[&str] = &["x", "2", ""];
const NOT_FROM_1: &[&str] = &["0", "x", "-1", "1.5", "18446744073709551616", ""];

/// sysbench's general options, as `--help` has them.
const GENERAL: &[Row] = &[
    row("threads", NOT_FROM_1, Here(threads)),
    row("events", NO_WHOLE, Here(events)),
    row("time", NO_NUMBERS, Here(time)),
    row("warmup-time", NO_NUMBERS, Here(warmup)),
    row("forced-shutdown", &["x", "-1", "1s", "x%"], By(SERVERS, "drops_what_is_late")),
    row("thread-stack-size", &["x", "-1", "1Q"], Here(has_no_effect)),
    row("thread-init-timeout", NO_WHOLE, Here(start_limit)),
    row("rate", &["x", "-1", "nan", "2000000000", "1,2@5", "5@x,6"], Here(rate)),
    row("debug", NO_FLAG, Here(debug)),
    row("validate", NO_FLAG, Here(validate)),
    row("help", NO_FLAG, Here(help)),
    row("version", NO_FLAG, Here(version)),
    row("config-file", &["/nowhere/at/all"], Here(config_file)),
    row("luajit-cmd", &["x", ""], Here(luajit_command)),
    row("test", &[], By("sysbench/src/options/arguments.rs", "the_test_may_be_an_option_wherever_it_stands")),
    row("tx-rate", &["x", "-1", "nan", "2000000000"], Here(old_names)),
    row("max-requests", NO_WHOLE, Here(old_names)),
    row("max-time", NO_NUMBERS, Here(old_names)),
    row("num-threads", NOT_FROM_1, Here(old_names)),
    row("rand-type", &["x", ""], Here(distributions)),
    row("rand-spec-iter", NOT_FROM_1, Here(distributions)),
    row("rand-spec-pct", &["101", "-1", "x"], Here(distributions)),
    row("rand-spec-res", &["101", "-1", "x"], Here(distributions)),
    row("rand-seed", NO_WHOLE, Here(seed)),
    row("rand-pareto-h", &["0", "1", "-0.2", "nan", "x"], Here(distributions)),
    row("rand-zipfian-exp", &["101", "-1", "nan", "x"], Here(distributions)),
    row("verbosity", &["6", "-1", "x"], Here(verbosity)),
    row("report-interval", NO_NUMBERS, Here(interval)),
    row("report-checkpoints", &["x", "1,x", "-1", "nan"], Here(checkpoints)),
    row("percentile", &["101", "95,101", "-1", "nan", "x"], Here(percentiles)),
    row("histogram", NO_FLAG, Here(histogram)),
    row("db-driver", &["oracle", ""], Here(driver)),
    row(
        "db-ps-mode",
        &["x", ""],
        By(TARGET, "postgres_has_a_port_and_statements_are_prepared_unless_that_is_switched_off"),
    ),
    row("db-debug", NO_FLAG, Here(database_debug)),
    row("mysql-host", &[], By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them")),
    row(
        "mysql-port",
        &["0", "65536", "x", "1;2"],
        By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them"),
    ),
    row("mysql-socket", &[], By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them")),
    row("mysql-user", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-password", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-db", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-compression", NO_FLAG, By(TARGET, "compression_is_asked_for_by_either_option")),
    row(
        "mysql-compression-algorithms",
        &["lz4", "zlib,lz4"],
        By(TARGET, "compression_is_asked_for_by_either_option"),
    ),
    row("mysql-debug", NO_FLAG, By(SERVERS, "prints_calls")),
    row("mysql-ignore-errors", &["abc", "1062,abc", "-1", "1062;1213"], By(SERVERS, "ignores_errors")),
    row("mysql-dry-run", NO_FLAG, By("sysbench/tests/sqlite.rs", "a_dry_run_needs_no_server")),
    row(
        "pgsql-port",
        &["0", "65536", "x"],
        By(TARGET, "postgres_has_a_port_and_statements_are_prepared_unless_that_is_switched_off"),
    ),
    row("pgsql-host", &[], By(TARGET, "postgres_takes_a_host_or_a_folder")),
    row("pgsql-user", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-password", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-db", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-ignore-errors", &["abc", "40p01"], By(TARGET, "errors_to_ignore_are_the_drivers_own")),
    row("sqlite-db", &[], Here(driver)),
    row("rate-spacing", &["x", ""], Here(spacing)),
    row("think-time", NO_NUMBERS, Here(think_time)),
    row("scheduler", &["x", ""], Here(scheduler)),
    row("io", &["x", ""], Here(scheduler)),
    row("loops", &["65537", "-1", "x"], Here(scheduler)),
    row("format", &["x", ""], Here(format)),
    row("compat", &["2", ""], Here(compat)),
];

/// Options of TLS, which the tests of the target go through.
const TLS: &[&str] = &["mysql-ssl", "pgsql-ssl"];

/// The options of built-in tests.
const OF_TESTS: &[(&str, Row)] = &[
    ("cpu", row("cpu-max-prime", NOT_FROM_1, Here(of_tests))),
    ("memory", row("memory-block-size", &["0", "7", "x", "-1", "1000T", "9999999T"], Here(of_tests))),
    ("memory", row("memory-total-size", &["x", "-1", "1Q"], Here(of_tests))),
    ("memory", row("memory-scope", &["x", ""], Here(of_tests))),
    ("memory", row("memory-hugetlb", NO_FLAG, Here(huge_pages))),
    ("memory", row("memory-oper", &["x", ""], Here(of_tests))),
    (
        "memory",
        row(
            "memory-access-mode",
            &["x", ""],
            By("kernels/src/memory.rs", "writing_in_order_touches_every_word"),
        ),
    ),
    ("threads", row("thread-yields", NO_WHOLE, Here(of_tests))),
    (
        "threads",
        row(
            "thread-locks",
            NOT_FROM_1,
            By("kernels/src/threads.rs", "events_of_all_threads_take_turns_at_the_locks"),
        ),
    ),
    ("mutex", row("mutex-num", NOT_FROM_1, By("kernels/src/mutex.rs", "as_many_locks_are_taken"))),
    ("mutex", row("mutex-locks", NO_WHOLE, By("kernels/src/mutex.rs", "as_many_locks_are_taken"))),
    ("mutex", row("mutex-loops", NO_WHOLE, By("kernels/src/mutex.rs", "as_many_locks_are_taken"))),
];

#[test]
fn every_option_is_in_the_table() {
    let known = general_groups().iter().flat_map(|group| group.options).map(|option| option.definition.name);
    let is_tls = |name: &str| TLS.iter().any(|prefix| name.starts_with(prefix));
    let mut known: Vec<&str> = known.filter(|name| !is_tls(name)).collect();
    let mut rows: Vec<&str> = GENERAL.iter().map(|row| row.name).collect();
    known.sort_unstable();
    rows.sort_unstable();
    assert_eq!(known, rows);
    for test in ["cpu", "memory", "threads", "mutex"] {
        let help = sysbench(&[&[test, "help"]]).success();
        let declared: Vec<&str> =
            help.lines().filter_map(|line| line.trim_start().strip_prefix("--")).collect();
        let rows: Vec<&str> =
            OF_TESTS.iter().filter(|(of, _)| *of == test).map(|(_, row)| row.name).collect();
        assert_eq!(declared.len(), rows.len(), "{help}");
        assert!(declared.iter().zip(rows).all(|(declared, row)| declared.starts_with(row)), "{help}");
    }
}

#[test]
fn what_an_option_cannot_be_is_refused_by_its_name() {
    let refused = |test: &str, row: &Row| {
        for value in row.refused {
            let option = format!("--{}={value}", row.name);
            let outcome = sysbench(&[&[test, "--events=1", "--time=0.01", &option, "run"]]);
            let said = format!("{}{}", outcome.out, outcome.err);
            assert!(outcome.status == 1 && said.contains(row.name), "{option}: {outcome:?}");
            assert!(!said.contains("total number of events"), "{option}: {outcome:?}");
        }
    };
    for row in GENERAL {
        refused("cpu", row);
    }
    for (test, row) in OF_TESTS {
        refused(test, row);
    }
}

#[test]
fn every_option_has_an_effect() {
    let mut done: Vec<usize> = Vec::new();
    for row in GENERAL.iter().chain(OF_TESTS.iter().map(|(_, row)| row)) {
        match row.shown {
            Here(check) if done.contains(&(check as usize)) => {}
            Here(check) => {
                check();
                done.push(check as usize);
            }
            By(file, test) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
                let tests = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(tests.contains(&format!("fn {test}(")), "--{}: {file} has no {test}", row.name);
            }
        }
    }
}

/// Runs a script with options.
fn run(script: &str, options: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.lua");
    fs::write(&path, script).unwrap();
    sysbench(&[&[path.to_str().unwrap(), "run"], options])
}

const NOTHING: &str = "function event() ffi.C.usleep(1000) end";

fn threads() {
    let out = run("function event() end", &["--threads=3", "--events=9"]).success();
    assert!(out.contains("Number of threads: 3\n"), "{out}");
}

fn events() {
    let out = run(NOTHING, &["--events=7", "--time=0"]).success();
    assert_eq!(number_after(&out, "total number of events:") as u32, 7);
}

fn time() {
    let out = run(NOTHING, &["--time=0.05"]).success();
    assert!(number_after(&out, "total time:") >= 0.05, "{out}");
}

fn warmup() {
    let out = run(NOTHING, &["--warmup-time=0.05", "--time=0.05"]).success();
    assert!(out.contains("Warming up for 0.05 seconds"), "{out}");
}

fn has_no_effect() {
    let out = run(NOTHING, &["--thread-stack-size=64K", "--events=1"]).success();
    assert!(out.starts_with("WARNING: --thread-stack-size has no effect here\n"), "{out}");
}

fn start_limit() {
    let slow = "function thread_init() ffi.C.usleep(2000000) end function event() end";
    let late = run(slow, &["--thread-init-timeout=1", "--scheduler=thread", "--events=1"]);
    assert!(late.status == 1 && late.out.contains("had opened their connections after 1 s"), "{late:?}");
}

fn rate() {
    let out = run("function event() end", &["--rate=200", "--events=2"]).success();
    assert!(out.contains("200/sec"), "{out}");
}

fn debug() {
    let out = run(NOTHING, &["--debug", "--events=1"]).success();
    assert!(out.contains("DEBUG: "), "{out}");
}

fn validate() {
    let script = "function event() print(sysbench.opt.validate) end";
    let printed =
        |options: &[&str]| run(script, &[&["--events=1", "--verbosity=0"], options].concat()).success();
    assert_eq!((printed(&[]).as_str(), printed(&["--validate"]).as_str()), ("false\n", "true\n"));
}

fn help() {
    assert!(sysbench(&[&["--help"]]).success().starts_with("Usage:\n"));
}

fn version() {
    assert!(sysbench(&[&["--version"]]).success().starts_with("sysbench 1.0.20"));
}

fn config_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "threads=3\n").unwrap();
    let option = format!("--config-file={}", file.path().display());
    let out = run("function event() end", &[&option, "--events=9"]).success();
    assert!(out.contains("Number of threads: 3\n"), "{out}");
}

fn luajit_command() {
    let script = "function event() print((jit.status())) end";
    let printed = |command: &str| run(script, &[command, "--events=1", "--verbosity=0"]).success();
    assert_eq!(printed("--luajit-cmd=off"), "false\n");
    assert_eq!(printed("--luajit-cmd=on"), "true\n");
}

fn old_names() {
    let script = "function event() ffi.C.usleep(1000) end
        function done() print(num_threads, max_requests, max_time, tx_rate) end";
    let out =
        run(script, &["--num-threads=2", "--max-requests=4", "--max-time=9", "--tx-rate=500"]).success();
    assert_eq!(out.matches("is deprecated, use").count(), 4, "{out}");
    assert_eq!(number_after(&out, "total number of events:") as u32, 4);
    assert!(out.contains("Number of threads: 2\n") && out.ends_with("2\t4\t9\t500\n"), "{out}");
}

/// How many of 1,000 numbers of 1 to 1,000 are at most 100.
fn low_numbers(options: &[&str]) -> u32 {
    let script = "function event()
        local low = 0
        for _ = 1, 1000 do low = low + (sysbench.rand.default(1, 1000) <= 100 and 1 or 0) end
        print(low)
      end";
    let fixed = ["--rand-seed=5", "--events=1", "--verbosity=0"];
    run(script, &[&fixed, options].concat()).success().trim().parse().unwrap()
}

fn distributions() {
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

fn seed() {
    let script = "function event() print(sysbench.rand.uniform(1, 1000000000)) end";
    let drawn = |seed: &str| run(script, &[seed, "--events=3", "--verbosity=0"]).success();
    assert_eq!(drawn("--rand-seed=5"), drawn("--rand-seed=5"));
    assert_ne!(drawn("--rand-seed=5"), drawn("--rand-seed=6"));
}

fn verbosity() {
    assert_eq!(run(NOTHING, &["--verbosity=0", "--events=1"]).success(), "");
}

fn interval() {
    let out = run(NOTHING, &["--report-interval=0.1", "--time=0.35"]).success();
    assert!(out.matches(" eps: ").count() >= 2, "{out}");
}

fn checkpoints() {
    let out = run(NOTHING, &["--report-checkpoints=1", "--time=1.5"]).success();
    assert_eq!(out.matches("Checkpoint report:").count(), 1, "{out}");
}

fn percentiles() {
    let out = run(NOTHING, &["--percentile=50,99", "--events=3"]).success();
    assert!(out.contains("50th percentile:") && out.contains("99th percentile:"), "{out}");
}

fn histogram() {
    assert!(run(NOTHING, &["--histogram", "--events=3"]).success().contains("Latency histogram"));
}

const CONNECTS: &str = "function thread_init() con = sysbench.sql.driver():connect() end
    function event() con:query('CREATE TABLE IF NOT EXISTS t (a INTEGER)') end";

fn driver() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("here.db");
    let database = format!("--sqlite-db={}", file.display());
    run(CONNECTS, &["--db-driver=sqlite", &database, "--events=1"]).success();
    assert!(file.exists());
}

fn database_debug() {
    let options = ["--db-driver=sqlite", "--sqlite-db=:memory:", "--events=1"];
    let says =
        |more: &[&str]| run(CONNECTS, &[&options, more].concat()).success().contains("query CREATE TABLE");
    assert!(says(&["--db-debug"]) && !says(&[]));
}

fn spacing() {
    let script = "function event() end";
    let evenly = ["--rate=1000", "--rate-spacing=constant", "--threads=1", "--events=50"];
    assert!(number_after(&run(script, &evenly).success(), "total time:") >= 0.045);
}

fn think_time() {
    let out = run("function event() end", &["--think-time=0.02", "--events=4"]).success();
    assert!(number_after(&out, "total time:") >= 0.06, "{out}");
}

fn scheduler() {
    let load = |options: &[&str]| {
        let out = run(NOTHING, &[&["--debug", "--threads=4", "--events=8"], options].concat()).success();
        out.lines().find_map(|line| line.split_once("load by ")).map(|(_, load)| load.to_owned()).unwrap()
    };
    assert!(load(&["--scheduler=thread"]).starts_with("a thread a connection"));
    let epoll = load(&["--scheduler=event", "--io=epoll", "--loops=2"]);
    assert_eq!(epoll, "event loop (epoll) on 2 thread(s)");
    assert!(load(&["--scheduler=event", "--loops=1"]).ends_with("on 1 thread(s)"));
}

fn format() {
    let out = run(NOTHING, &["--format=json", "--events=3"]).success();
    assert!(out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{out}");
}

fn compat() {
    let out = run(NOTHING, &["--compat=1.1", "--events=3"]).success();
    assert!(out.starts_with("sysbench 1.1") && out.contains("Throughput:"), "{out}");
}

fn of_tests() {
    let out = |arguments: &[&str]| sysbench(&[arguments, &["--events=3", "run"]]).success();
    assert!(out(&["cpu", "--cpu-max-prime=77"]).contains("Prime numbers limit: 77\n"));
    let memory = ["memory", "--memory-block-size=2K", "--memory-total-size=1M"];
    let all = out(&memory);
    assert!(all.contains("block size: 2KiB\n") && all.contains("Total operations: 512 ("), "{all}");
    assert!(all.contains("1.00 MiB transferred"), "{all}");
    assert!(!out(&[&memory[..], &["--memory-oper=none"]].concat()).contains("transferred"));
    assert!(out(&[&memory[..], &["--memory-scope=local"]].concat()).contains("scope: local\n"));
    assert_eq!(number_after(&out(&["threads", "--thread-yields=0"]), "total number of events:") as u32, 3);
}

/// Whether the host has huge pages or not.
fn huge_pages() {
    let outcome = sysbench(&[&["memory", "--memory-hugetlb", "--memory-total-size=1M", "run"]]);
    let refused = outcome.status == 1 && outcome.out.contains("of huge pages");
    assert!(refused || outcome.out.contains("Total operations: 1024"), "{outcome:?}");
}
