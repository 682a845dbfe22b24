//! The command as users call it: built-in tests, and scripts on SQLite, which needs no server.

mod support;
#[path = "support/until.rs"]
mod until;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use support::{number_after, sysbench, sysbench_until};
use tempfile::TempDir;
use until::sysbench_until_there_is;

/// A folder with a database file and scripts.
struct Bench {
    folder: TempDir,
    database: String,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("--sqlite-db={}", folder.path().join("test.db").display());
        Self { folder, database }
    }

    fn database(&self) -> [&str; 2] {
        ["--db-driver=sqlite", &self.database]
    }

    fn script(&self, text: &str) -> String {
        let path = self.folder.path().join("script.lua");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

#[test]
fn scripts_of_pgbench_are_run() {
    let bench = Bench::new();
    let write = |name: &str, text: &str| {
        let path = bench.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let made = write("made.pgbench", "CREATE TABLE noted (id INTEGER);");
    sysbench(&[&[&made], &bench.database(), &["--events=1", "run"]]).success();
    let one = write("one.pgbench", "INSERT INTO noted VALUES (:base + 1);");
    let two = write("two.pgbench", "\\set sum :base + 2\nINSERT INTO noted VALUES (:sum);");
    let both = format!("{one}@3,{two}@0");
    let options = &["--base=40", "--protocol=prepared", "--events=10", "run"];
    let out = sysbench(&[&[&both], &bench.database(), options]).success();
    assert_eq!(number_after(&out, "transactions:") as u32, 10);
    assert_eq!(number_after(&out, "write:") as u32, 10);
    let help = sysbench(&[&[&two], &["help"]]).success();
    assert!(help.contains("--base=STRING") && help.contains("--max_tries=N"), "{help}");
    let wrong = write("wrong.pgbench", "SELECT 1;\n\\shell date\n");
    let refused = sysbench(&[&[&wrong], &bench.database(), &["run"]]);
    assert_eq!(refused.status, 1);
    assert!(refused.out.contains("wrong.pgbench:2:1: \\shell runs a program on this machine"), "{refused:?}");
    let text = "\\setshell base echo 40\nINSERT INTO noted VALUES (:base);\n\\shell echo :base rows";
    let shell = write("shell.pgbench", text);
    let out = sysbench(&[&[&shell], &bench.database(), &["--allow-shell", "--events=1", "run"]]).success();
    assert!(out.contains("\n40 rows\n"), "{out}");
    let refused = sysbench(&[&[&shell], &bench.database(), &["--allow-shell=off", "--events=1", "run"]]);
    assert_eq!(refused.status, 1);
    assert!(refused.out.contains("shell.pgbench:1:1: \\setshell runs a program"), "{refused:?}");
}

const TABLES: &[&str] = &["--tables=2", "--table-size=50"];

#[test]
fn a_workload_is_prepared_run_and_cleaned_up() {
    let bench = Bench::new();
    let test = &["oltp_read_write"];
    sysbench(&[test, &bench.database(), TABLES, &["prepare"]]).success();
    let out = sysbench(&[test, &bench.database(), TABLES, &["--events=20", "run"]]).success();
    assert!(out.starts_with("sysbench 1.0.20 (dyno "), "{out}");
    let order = ["Number of threads: 1\n", "Threads started!\n\n", "SQL statistics:\n", "Latency (ms):\n"];
    let places: Vec<_> = order.iter().map(|words| out.find(words).expect(words)).collect();
    assert!(places.is_sorted(), "{out}");
    assert_eq!(number_after(&out, "transactions:") as u32, 20);
    assert_eq!(number_after(&out, "queries:") as u32, 400);
    assert_eq!(number_after(&out, "total number of events:") as u32, 20);
    sysbench(&[test, &bench.database(), TABLES, &["cleanup"]]).success();
    let gone = sysbench(&[test, &bench.database(), TABLES, &["--events=1", "run"]]);
    assert_eq!(gone.status, 1);
    assert!(gone.out.contains("\nFATAL: ") && gone.out.contains("no such table: sbtest"), "{gone:?}");
}

#[test]
fn a_dry_run_needs_no_server() {
    let dry = ["--mysql-host=nowhere.invalid", "--mysql-dry-run", "--threads=2"];
    for test in ["oltp_read_write", "bulk_insert"] {
        sysbench(&[&[test], &dry, &["prepare"]]).success();
        let out = sysbench(&[&[test], &dry, &["--events=20", "run"]]).success();
        assert_eq!(number_after(&out, "transactions:") as u32, 20, "{out}");
        sysbench(&[&[test], &dry, &["cleanup"]]).success();
    }
    let sent = sysbench(&[&["oltp_read_write", "--mysql-host=nowhere.invalid", "run"]]);
    assert!(sent.status == 1 && sent.out.contains("cannot resolve nowhere.invalid"), "{sent:?}");
}

#[test]
fn every_line_of_json_follows_the_schema() {
    let bench = Bench::new();
    let test = &["oltp_point_select"];
    sysbench(&[test, &bench.database(), TABLES, &["prepare"]]).success();
    let options = ["--format=json", "--report-interval=0.25", "--time=1", "--rate=200", "--percentile=99.99"];
    let out = sysbench(&[test, &bench.database(), TABLES, &options, &["run"]]).success();
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let schema = "../../docs/reference/load-generator.schema.json";
    let schema = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(schema)).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let failed =
        sysbench(&[test, &bench.database(), &["--format=json", "--table-size=50", "--tables=9", "run"]]);
    let failed: Value = serde_json::from_str(failed.out.lines().last().unwrap()).unwrap();
    for line in lines.iter().chain([&failed]) {
        assert_eq!(validator.validate(line).map_err(|error| error.to_string()), Ok(()), "{line}");
    }
    let of_type = |name: &str| lines.iter().filter(|line| line["type"] == name).collect::<Vec<_>>();
    assert_eq!((of_type("start").len(), of_type("final").len(), lines.len()), (1, 1, lines.len()));
    assert_eq!(failed["type"], "failed");
    let intervals = of_type("interval");
    assert!(intervals.len() >= 3, "{out}");
    let events = |line: &Value| line["events"].as_u64().unwrap();
    let last = of_type("final")[0];
    assert!(intervals.iter().map(|line| events(line)).sum::<u64>() <= events(last));
    assert!(last["latency_ms"]["percentiles"]["99.99"].is_number(), "{last}");
    assert!(validator.validate(&serde_json::json!({"type": "interval"})).is_err());
}

#[test]
fn a_script_reports_by_its_own_hooks() {
    let bench = Bench::new();
    let script = bench.script(
        "local C = require('ffi').C
         function event() C.usleep(1000) end
         sysbench.hooks.report_intermediate = sysbench.report_csv
         sysbench.hooks.report_cumulative = function(stat) print('events', stat.events, stat.latency_max < 60) end",
    );
    let options = ["--report-interval=0.2", "--time=0.5", "run"];
    let out = sysbench(&[&[&script], &bench.database(), &options]).success();
    assert!(out.lines().any(|line| line.split(',').count() == 10), "{out}");
    assert!(out.lines().any(|line| line.starts_with("events\t") && line.ends_with("\ttrue")), "{out}");
    assert!(!out.contains("General statistics"), "{out}");
}

#[test]
fn every_function_of_a_script_is_called_in_its_turn() {
    let bench = Bench::new();
    let script = bench.script(
        "for _, name in ipairs{'init', 'thread_init', 'event', 'thread_done', 'done'} do
           _G[name] = function() print('in ' .. name) end
         end",
    );
    let out = sysbench(&[&[&script], &bench.database(), &["--events=2", "run"]]).success();
    let calls: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("in ")).collect();
    assert_eq!(calls, ["init", "thread_init", "event", "event", "thread_done", "done"]);
}

#[test]
fn what_init_and_done_print_stands_around_the_report_as_in_sysbench() {
    let bench = Bench::new();
    let script = bench.script(
        "print('TOP LEVEL') function init() print('INIT') end function done() print('DONE') end
         function thread_done() print('THREAD DONE') end function event() end",
    );
    let run = |options: &[&str]| sysbench(&[&[&script], &bench.database(), options, &["run"]]);
    let out = run(&["--events=2", "--verbosity=5"]).success();
    let order = [
        "INIT\n",
        "Running the test",
        "Initializing worker threads...\n\n",
        "DEBUG: Worker thread (#0) started\n",
        "TOP LEVEL\n",
        "DEBUG: Worker thread (#0) initialized\n",
        "Threads started!\n\n",
        "THREAD DONE\n",
        "Done.\n\n",
        "Threads fairness:\n",
        "DONE\n",
    ];
    let places: Vec<_> = order.iter().map(|words| out.rfind(words).expect(words)).collect();
    assert!(places.is_sorted(), "{out}");
    assert!(out.ends_with("\n\nDONE\n") && out.contains("\nEvent limit exceeded, exiting...\n"), "{out}");
    let timed = run(&["--time=0.1", "--verbosity=4"]).success();
    assert!(timed.contains("\nTime limit exceeded, exiting...\n") && !timed.contains("DEBUG:"), "{timed}");
}

#[test]
fn without_a_command_a_script_is_a_program() {
    let bench = Bench::new();
    let script = bench.script("print('TOP LEVEL') function prepare() end function event() end");
    let out = sysbench(&[&[&script]]).success();
    let warning =
        format!("WARNING: only the top level of '{script}' was run; its commands are: prepare, run\n");
    assert!(out.ends_with(&format!("\n\nTOP LEVEL\n{warning}")), "{out}");
}

#[test]
fn checkpoints_say_how_evenly_threads_were_served() {
    let bench = Bench::new();
    let script = bench.script("local ffi = require('ffi') function event() ffi.C.usleep(1000) end");
    let options =
        ["--report-checkpoints=0.2,0.4", "--report-interval=0.1", "--time=0.5", "--threads=2", "run"];
    let out = sysbench(&[&[&script], &bench.database(), &options]).success();
    let reports: Vec<&str> = out.split(" Checkpoint report:\n").collect();
    // The first of the three parts precedes the first checkpoint. The part after the second checkpoint also has the
    // final report.
    assert_eq!(reports.len(), 3, "{out}");
    assert_eq!(out.matches("\nThreads fairness:\n").count(), 3, "{out}");
    let total = number_after(reports[1], "total number of events:");
    let fairness = number_after(&reports[1].replace('/', " "), "events (avg stddev):");
    assert!(total > 0.0 && (fairness * 2.0 - total).abs() < 1e-6, "{out}");
}

#[test]
fn a_stop_does_not_wait_for_init_or_done() {
    let bench = Bench::new();
    for function in ["init", "done"] {
        let sign = bench.folder.path().join(function);
        let script = bench.script(&format!(
            "function event() end
             function {function}() io.open('{}', 'w'):close() while true do end end",
            sign.display()
        ));
        let arguments: [&[&str]; 3] = [&[&script], &bench.database(), &["--events=1", "run"]];
        let began = std::time::Instant::now();
        let outcome = sysbench_until_there_is(&sign, &arguments);
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{function} was waited for");
        // If the stop comes in `init`, no load has run, so there is nothing to report.
        assert_eq!(outcome.out.contains("General statistics"), function == "done", "{outcome:?}");
    }
}

#[test]
fn scripts_get_their_options_and_commands() {
    let bench = Bench::new();
    let script = bench.script(
        "sysbench.cmdline.options = { alpha = {'First', 5}, flag = {'Second', false} }
         sysbench.cmdline.commands = {
           show = { function() print(sysbench.opt.alpha, sysbench.opt.flag, sysbench.opt.validate) end },
           all = { function() print('here') end, sysbench.cmdline.PARALLEL_COMMAND },
         }
         function event() end",
    );
    let call = |arguments: &[&str]| sysbench(&[&[&script], arguments]);
    assert!(call(&["--alpha=7", "--flag", "--validate", "show"]).success().ends_with("\n7\ttrue\ttrue\n"));
    assert!(
        call(&["--threads=2", "all"]).success().ends_with("Initializing worker threads...\n\nhere\nhere\n")
    );
    let help = call(&["help"]).success();
    assert!(
        help.ends_with(" options:\n  --alpha=N       First [5]\n  --flag[=on|off] Second [off]\n\n"),
        "{help}"
    );
    let unknown = call(&["--alhpa=7", "show"]);
    assert_eq!(
        (unknown.status, unknown.err.as_str()),
        (1, "invalid option: --alhpa=7 (did you mean --alpha?)\n")
    );
    let wrong = call(&["--alpha=x", "show"]);
    assert!(
        wrong.status == 1 && wrong.out.contains("FATAL: option --alpha takes a number, not 'x'"),
        "{wrong:?}"
    );
    let command = call(&["prepare"]);
    assert_eq!(
        (command.status, command.err.contains("has no command 'prepare'; it has: all, show, run, help")),
        (1, true)
    );
}

#[test]
fn errors_of_scripts_have_file_and_line() {
    let bench = Bench::new();
    let call = |text: &str| sysbench(&[&[&bench.script(text), "--events=1", "run"]]);
    let raised = call("function event()\n  error('oops')\nend");
    assert!(raised.status == 1 && raised.out.contains("script.lua:2: oops\n"), "{raised:?}");
    let syntax = call("function event(");
    assert!(syntax.status == 1 && syntax.out.contains("script.lua:1: "), "{syntax:?}");
    let no_event = call("x = 1");
    assert!(no_event.status == 1 && no_event.out.contains("it has no function event()\n"), "{no_event:?}");
}

#[test]
fn tests_without_a_database_run_and_report() {
    let cpu = sysbench(&[&["cpu", "--events=3", "--threads=2", "--cpu-max-prime=100", "run"]]).success();
    assert!(
        cpu.contains("\nPrime numbers limit: 100\n") && cpu.contains("CPU speed:\n    events per second: ")
    );
    assert_eq!(number_after(&cpu, "total number of events:") as u32, 3);
}

#[test]
fn a_stopped_test_reports_what_it_has() {
    let stopped = sysbench_until(&AtomicBool::new(true), &[&["cpu", "--time=600", "run"]]).success();
    assert!(stopped.ends_with("\n\n") && stopped.contains("\nGeneral statistics:\n"), "{stopped}");
}

#[test]
fn wrong_usage_has_the_exit_status_of_sysbench() {
    for (arguments, words) in [
        (&["--thraeds=2", "cpu", "run"][..], "invalid option: --thraeds=2 (did you mean --threads?)\n"),
        (&["cpu"], "'cpu' needs a command: run, help\n"),
        (
            &["oltp_read_write"],
            "'oltp_read_write' needs a command: prepare, prewarm, warmup, cleanup, run, help\n",
        ),
        (&["cpu", "prepare"], "'cpu' has no command 'prepare'; it has: run, help\n"),
        (&["cpu", "run", "more"], "unexpected argument: more (options are written --name=value)\n"),
    ] {
        let outcome = sysbench(&[arguments]);
        assert_eq!((outcome.status, outcome.err.as_str()), (1, words));
    }
    for test in ["fileio", "memory", "mutex", "threads"] {
        let absent = sysbench(&[&[test, "run"]]);
        let words = format!("FATAL: there is no {test} test here: use ");
        assert!(absent.status == 1 && absent.out.contains(&words), "{absent:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    assert_eq!(sysbench(&[&["--version"]]).success(), "sysbench 1.0.20\n");
    let help = sysbench(&[&["--help"]]).success();
    for words in ["--mysql-host=[LIST,...]", "  cpu - ", "  oltp_read_write\n", "--rate=N"] {
        assert!(help.contains(words), "{words} in {help}");
    }
    let cpu = sysbench(&[&["cpu", "help"]]).success();
    assert!(cpu.contains("\ncpu options:\n  --cpu-max-prime=N "), "{cpu}");
}

const ITEMS: &str = "local drv = sysbench.sql.driver()
    local con = drv:connect()
    con:query('CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)')
    local before = con:query_row('SELECT COUNT(*) FROM items')
    ";

/// All later functions of a script can use a connection that its top level has opened.
#[test]
fn a_script_may_connect_at_its_top_level() {
    let bench = Bench::new();
    let script = bench.script(&format!(
        "{ITEMS}
         function prepare() for id = 1, 5 do con:query('INSERT INTO items (id) VALUES (' .. id .. ')') end end
         function event() if not con:query_row('SELECT id FROM items WHERE id = 3') then error('no row') end end
         function cleanup() con:query('DROP TABLE items') print('there were', before) end"
    ));
    sysbench(&[&bench.database(), &[&script, "prepare"]]).success();
    for scheduler in ["auto", "event", "thread"] {
        let scheduler = format!("--scheduler={scheduler}");
        let run = ["--threads=2", "--events=10", &scheduler, &script, "run"];
        let out = sysbench(&[&bench.database(), &run]).success();
        assert_eq!(number_after(&out, "transactions:") as u32, 10, "{out}");
    }
    let out = sysbench(&[&bench.database(), &[&script, "cleanup"]]).success();
    assert!(out.contains("there were\t5\n"), "{out}");
}

#[test]
fn a_script_that_is_a_program_may_query_once() {
    let bench = Bench::new();
    let script = bench.script(&format!(
        "{ITEMS} con:query(\"INSERT INTO items (name) VALUES ('x')\") print('before', before)"
    ));
    for before in ["before\t0\n", "before\t1\n"] {
        let out = sysbench(&[&bench.database(), &[&script]]).success();
        assert!(out.ends_with(before), "{out}");
    }
}

#[test]
fn an_error_at_the_end_of_a_thread_or_of_the_run_keeps_the_report() {
    let bench = Bench::new();
    for (end, position) in [("thread_done", "\n\nFATAL: "), ("done", "FATAL: ")] {
        let script =
            bench.script(&format!("function event() end function {end}() error('at the end', 0) end"));
        for scheduler in ["--scheduler=event", "--scheduler=thread"] {
            let run = [scheduler, "--threads=3", "--events=30", &script, "run"];
            let failed = sysbench(&[&run]);
            assert_eq!(failed.status, 1, "{failed:?}");
            assert_eq!(number_after(&failed.out, "total number of events:") as u32, 30, "{failed:?}");
            assert!(failed.out.ends_with(&format!("{position}at the end\n")), "{failed:?}");
            let json = sysbench(&[&run, &["--format=json"]]);
            let lines: Vec<Value> =
                json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let types: Vec<_> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
            assert_eq!(types, ["start", "final", "failed"], "{json:?}");
            assert_eq!(lines[1]["events"].as_u64(), Some(30), "{json:?}");
        }
    }
}

#[test]
fn what_a_script_writes_is_in_order_and_no_part_of_the_json() {
    let bench = Bench::new();
    let script = bench.script("function event() print('one') io.write('two ', 3, '\\n') print('four') end");
    let out = sysbench(&[&["--events=1", "--verbosity=0", &script, "run"]]).success();
    assert_eq!(out, "one\ntwo 3\nfour\n");
    let json = sysbench(&[&["--events=1", "--format=json", &script, "run"]]);
    assert!(json.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{json:?}");
    assert_eq!(json.err, "one\ntwo 3\nfour\n");
}

#[test]
fn a_script_finds_its_command_line_without_passwords() {
    let bench = Bench::new();
    let script = bench.script("function prepare() print(table.concat(sysbench.cmdline.argv, ' ')) end");
    let given = ["--threads=2", "--mysql-password=secret", &script, "--mine=1", "prepare"];
    let out = sysbench(&[&given]).success();
    assert!(out.ends_with(&format!("\n--threads=2 --mysql-password {script} --mine=1 prepare\n")), "{out}");
}

#[test]
fn events_of_the_warm_up_are_not_those_that_end_the_run() {
    let bench = Bench::new();
    let script = bench.script("function event() ffi.C.usleep(50000) end");
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let run = [scheduler, "--warmup-time=0.3", "--time=0", "--events=3", &script, "run"];
        let out = sysbench(&[&run]).success();
        // An event is in flight at the end of the warm-up. It may be counted in addition to the three events that end
        // the run.
        assert!([3, 4].contains(&(number_after(&out, "total number of events:") as u32)), "{out}");
    }
}

#[test]
fn a_reconnect_of_a_script_is_counted() {
    let bench = Bench::new();
    let script = bench.script(
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query_row('SELECT 1') con:reconnect() end",
    );
    let out = sysbench(&[&bench.database(), &["--events=4", &script, "run"]]).success();
    assert_eq!(number_after(&out, "reconnects:") as u32, 4, "{out}");
}

#[test]
fn a_host_that_has_no_address_is_an_error_that_scripts_catch() {
    let bench = Bench::new();
    let script = bench.script(
        "function prepare()
           local drv = sysbench.sql.driver()
           local connected, message = pcall(drv.connect, drv)
           print(connected, message:match('cannot resolve nowhere.invalid:3306'))
         end",
    );
    let out = sysbench(&[&["--mysql-host=nowhere.invalid", &script, "prepare"]]).success();
    assert!(out.ends_with("false\tcannot resolve nowhere.invalid:3306\n"), "{out}");
}
