//! The behaviour that scripts may rely on, without a database: when their functions are called, and what values they
//! see.

mod support;
#[path = "support/until.rs"]
mod until;

use std::fs;

use support::{Outcome, number_after, sysbench};
use tempfile::TempDir;
use until::sysbench_until_there_is;

/// Calls a script with arguments.
fn call(script: &str, arguments: &[&str]) -> Outcome {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("script.lua");
    fs::write(&path, script).unwrap();
    sysbench(&[&[path.to_str().unwrap()], arguments])
}

/// The output after the banner.
fn body(outcome: Outcome) -> String {
    outcome.success().split_once("\n\n").expect("a banner").1.to_owned()
}

const WAITS_FOR_NOTHING: &str = "
    local n = 0
    function event() n = n + 1 end
    function thread_done(tid) print('thread ' .. tid, n > 0) end";

const OWN_LOOP: &str = "
    local n = 0
    function thread_run(tid)
      while ffi.C.sb_more_events(tid) do n = n + 1; ffi.C.sb_event_start(tid); ffi.C.sb_event_stop(tid) end
      print('thread ' .. tid, n > 0)
    end
    function event() end";

#[test]
fn events_that_wait_for_nothing_are_counted_while_they_run_and_every_thread_has_some() {
    events_that_wait_for_nothing_are_counted(&[]);
}

/// If a rate is too high to be kept, the loop is as busy as without a rate.
#[test]
fn events_that_wait_for_nothing_are_counted_at_a_rate_too() {
    events_that_wait_for_nothing_are_counted(&["--rate=50000"]);
}

fn events_that_wait_for_nothing_are_counted(more_options: &[&str]) {
    let work = "local function work() local sum = 0 for i = 1, 100000 do sum = sum + i % 7 end end\n";
    let busy = WAITS_FOR_NOTHING.replace("n = n + 1", "n = n + 1 work()");
    let busy_loop = OWN_LOOP.replace("n = n + 1;", "n = n + 1; work();");
    let options =
        ["--scheduler=event", "--loops=1", "--threads=3", "--time=2", "--report-interval=0.2", "run"];
    for script in [busy, busy_loop] {
        let out = call(&format!("{work}{script}"), &[&options, more_options].concat()).success();
        let rates = out.lines().filter(|line| line.contains(" eps: ") && !line.contains(" eps: 0.00 "));
        assert!(rates.count() >= 2, "{out}");
        for tid in 0..3 {
            assert!(out.contains(&format!("thread {tid}\ttrue\n")), "{out}");
        }
    }
}

#[test]
fn events_that_wait_for_nothing_can_be_stopped_and_limited() {
    let folder = TempDir::new().unwrap();
    let (path, begun) = (folder.path().join("script.lua"), folder.path().join("begun"));
    let script = format!(
        "local n = 0
         function event() n = n + 1 if n == 100 then io.open('{}', 'w'):close() end end",
        begun.display()
    );
    fs::write(&path, script).unwrap();
    let arguments: [&[&str]; 2] = [&[path.to_str().unwrap()], &["--scheduler=event", "--time=600", "run"]];
    let stopped = sysbench_until_there_is(&begun, &arguments);
    assert!(number_after(&stopped.success(), "total number of events:") >= 100.0);
    let limited = call(WAITS_FOR_NOTHING, &["--scheduler=event", "--threads=2", "--events=200000", "run"]);
    assert_eq!(number_after(&limited.success(), "total number of events:") as u32, 200_000);
}

#[test]
fn done_cleans_up_after_events_that_failed_but_not_where_none_began() {
    let script = |place: &str| {
        format!("function event() end function done() print('DONE') end function {place}() error('oops') end")
    };
    let failed = call(&script("event"), &["--events=2", "run"]);
    assert_eq!(failed.status, 1, "{failed:?}");
    assert!(failed.out.contains("\nDONE\n") && failed.out.contains("script.lua:1: oops\n"), "{failed:?}");
    for place in ["init", "thread_init"] {
        let failed = call(&script(place), &["--events=2", "run"]);
        assert!(failed.status == 1 && !failed.out.contains("DONE"), "{place}: {failed:?}");
    }
}

#[test]
fn a_script_without_functions_is_a_program_that_needs_no_command() {
    let script = "print('hello', sysbench.cmdline.command, sysbench.opt.threads)";
    assert_eq!(body(call(script, &["--threads=2"])), "hello\tnil\t2\n");
    let command = call(script, &["prepare"]);
    assert!(command.status == 1 && command.err.ends_with(" has no command 'prepare'; it has: none\n"));
    let checks = "if sysbench.cmdline.command == nil then error('say run', 0) end function event() end";
    let own_words = call(checks, &[]);
    assert!(own_words.status == 1 && own_words.out.ends_with("FATAL: say run\n"), "{own_words:?}");
    let help = call("function event() end function help() print('own') end", &["prepare"]);
    assert!(help.err.ends_with("; it has: help, run\n"), "{help:?}");
}

#[test]
fn an_option_without_a_value_is_an_empty_text_or_a_flag_that_is_set() {
    let script = "
        sysbench.cmdline.options = {
          text = { 'a text', 'x' }, list = { 'a list', { 'p' } }, flag = { 'a flag', false }, number = { 'a number', 5 },
        }
        function prepare()
          local opt = sysbench.opt
          print('<' .. opt.text .. '>', #opt.list, opt.flag, opt.number)
        end";
    assert_eq!(body(call(script, &["--text", "--list", "--flag", "prepare"])), "<>\t0\ttrue\t5\n");
    let number = call(script, &["--number", "prepare"]);
    assert!(number.out.ends_with("FATAL: option --number takes a number, not ''\n"), "{number:?}");
    let flag = call(script, &["--flag=", "prepare"]);
    assert_eq!((flag.status, flag.err.as_str()), (1, "invalid value of --flag: '' is not on or off\n"));
    let undeclared = "function prepare() print('<' .. some_option .. '>') end";
    assert_eq!(body(call(undeclared, &["--some-option", "prepare"])), "<>\n");
}

#[test]
fn commands_find_the_options_of_a_run() {
    let script = "
        function prepare()
          local opt = sysbench.opt
          print(opt.time, opt.events, opt.mysql_ssl)
        end";
    assert_eq!(body(call(script, &["prepare"])), "10\t0\tfalse\n");
    let given = ["--time=7", "--events=3", "--mysql-ssl=REQUIRED", "prepare"];
    assert_eq!(body(call(script, &given)), "7\t3\tREQUIRED\n");
    assert_eq!(sysbench(&[&["cpu", "--verbosity=6", "run"]]).status, 1);
}

#[test]
fn an_event_that_ends_its_thread_is_not_counted() {
    let script = "local n = 0 function event() n = n + 1 if n == 7 then return true end end";
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let out = call(script, &[scheduler, "--threads=2", "--time=60", "run"]).success();
        assert_eq!(number_after(&out, "total number of events:") as u32, 12, "{scheduler}: {out}");
    }
}

#[test]
fn a_run_at_a_rate_ends_with_its_last_event() {
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        for script in ["function event() ffi.C.usleep(1000) end", OWN_LOOP] {
            let out =
                call(script, &[scheduler, "--threads=3", "--rate=200", "--events=40", "--time=600", "run"]);
            let out = out.success();
            assert_eq!(number_after(&out, "total number of events:") as u32, 40, "{scheduler}: {out}");
            assert!(number_after(&out, "total time:") < 60.0, "{scheduler}: {out}");
        }
    }
}

#[test]
fn a_run_ends_with_its_last_event_also_where_the_rate_ends_before() {
    let sleeps = "function event() ffi.C.usleep(1000) end";
    let options = ["--threads=3", "--rate=0:50@1s,0", "--events=5", "--time=600", "run"];
    for out in [
        call(sleeps, &[&["--scheduler=event"], &options[..]].concat()),
        call(sleeps, &[&["--scheduler=thread"], &options[..]].concat()),
        sysbench(&[&["cpu"], &options]),
    ] {
        let out = out.success();
        assert_eq!(number_after(&out, "total number of events:") as u32, 5, "{out}");
        assert!(number_after(&out, "total time:") < 60.0, "{out}");
    }
}

#[test]
fn nobody_thinks_after_the_last_event() {
    // When the first thread ends, the event of the second thread is still in flight.
    let script = "function event() ffi.C.usleep(1000 + 100000 * sysbench.tid) end";
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let out =
            call(script, &[scheduler, "--threads=2", "--events=2", "--think-time=600", "--time=600", "run"]);
        let out = out.success();
        assert_eq!(number_after(&out, "total number of events:") as u32, 2, "{scheduler}: {out}");
        assert!(number_after(&out, "total time:") < 60.0, "{scheduler}: {out}");
    }
}

#[test]
fn what_is_due_after_the_last_event_is_no_backlog() {
    let slow = "function event() ffi.C.usleep(300000) end";
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let out = call(slow, &[scheduler, "--threads=20", "--rate=1000", "--events=20", "--time=600", "run"]);
        let out = out.success();
        assert_eq!(number_after(&out, "total number of events:") as u32, 20, "{scheduler}: {out}");
        assert!(!out.contains("rate not sustained"), "{scheduler}: {out}");
    }
}

#[test]
fn done_finds_what_init_has_left_in_globals() {
    let script = "
        function init() started = { 'in init' } end
        function event() assert(started == nil, 'threads have globals of their own') end
        function done() print(started[1]) end";
    for scheduler in ["--scheduler=event", "--scheduler=thread"] {
        let out = call(script, &[scheduler, "--threads=2", "--events=2", "run"]).success();
        assert!(out.ends_with("\n\nin init\n"), "{scheduler}: {out}");
    }
}

/// More events than sysbench's queue holds are due at the first tick.
#[test]
fn a_rate_that_overflows_the_queue_fails_the_run_in_sysbench_s_words() {
    let sleeps = "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(1000) end
                  function done() print('in done') end";
    let options = ["--rate=1000000", "--time=600", "--report-interval=0.5", "run"];
    let words = "\nFATAL: The event queue is full. This means the worker threads are unable to keep up with the \
                 specified event generation rate\n";
    for arguments in [&["--scheduler=event"][..], &["--scheduler=thread"], &["--compat=1.1"]] {
        let failed = call(sleeps, &[arguments, &options].concat());
        assert!(failed.status == 1 && failed.out.contains(words), "{failed:?}");
        assert!(
            failed.out.ends_with("\nin done\n") && !failed.out.contains("General statistics"),
            "{failed:?}"
        );
    }
    let cpu = sysbench(&[&["cpu", "--cpu-max-prime=100000"], &options]);
    assert!(cpu.status == 1 && cpu.out.contains(words) && !cpu.out.contains("General statistics"), "{cpu:?}");
    let json = call(sleeps, &[&["--format=json"], &options[..]].concat());
    let last = json.out.lines().last().unwrap_or_default();
    assert!(json.status == 1 && last.starts_with("{\"type\":\"failed\""), "{json:?}");
    assert!(last.contains("The event queue is full.") && !json.out.contains("\"final\""), "{json:?}");
}

#[test]
fn a_rate_that_is_not_kept_and_fits_the_queue_is_warned_of() {
    let slow = "ffi.cdef('int usleep(unsigned int);') function event() ffi.C.usleep(100000) end";
    let out = call(slow, &["--rate=1000", "--time=1", "run"]).success();
    assert!(out.contains("WARNING: rate not sustained: ") && out.contains("General statistics"), "{out}");
}

#[test]
fn scripts_find_the_version_and_the_seed_that_were_asked_for() {
    let script =
        "function prepare() print(sysbench.version, sysbench.version_string, sysbench.opt.rand_seed) end
                  function init() print(sysbench.opt.rand_seed) end function event() end";
    assert_eq!(body(call(script, &["prepare"])), "1.0.20\tsysbench 1.0.20\t0\n");
    assert_eq!(
        body(call(script, &["--compat=1.1", "--rand-seed=7", "prepare"])),
        "1.1.0\tsysbench 1.1.0\t7\n"
    );
    assert!(body(call(script, &["--events=1", "run"])).starts_with("0\n"));
    assert!(body(call(script, &["--events=1", "--rand-seed=9", "run"])).starts_with("9\n"));
}

#[test]
fn a_command_without_a_function_is_told_as_missing() {
    let script =
        "sysbench.cmdline.commands = { move = { cmd_move } } function cmd_move() end function event() end";
    let moved = call(script, &["move"]);
    assert!(moved.status == 1 && moved.err.ends_with(" has no command 'move'; it has: run\n"), "{moved:?}");
}
