//! Commands, and `sysbench.cmdline`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use dyno_script::{CommandSpec, Entry, Runtime};

use crate::support::{Bench, End, as_command, config, failure_of, printed, run_go};

const SCRIPT: &str = "
    function prepare() print('prepare') end
    function cleanup() print('a global cleanup') end
    sysbench.cmdline.commands = {
      cleanup = { function() print('cleanup') end },
      warmup = { function() print('warmup', sysbench.tid) end, sysbench.cmdline.PARALLEL_COMMAND },
      show = { function()
        local c = sysbench.cmdline
        print(c.command_defined('warmup'), c.command_defined('nothing'))
        print(c.command_parallel('warmup'), c.command_parallel('show'))
        print(c.call_command('cleanup'), c.call_command('nothing'), c.read_cmdline_options())
        print(c.script_path, c.command, c.argv[0], c.argv[1], c.argv[2])
      end },
    }";

#[test]
fn commands_are_declared_with_their_way_to_run() {
    let bench = Bench::new(SCRIPT);
    let command = |name: &str, parallel| CommandSpec { name: name.into(), parallel };
    let expected = [
        command("cleanup", false),
        command("show", false),
        command("warmup", true),
        command("prepare", false),
    ];
    assert_eq!(bench.runtime.info().commands, expected);
    assert!(!bench.runtime.info().is_runnable());
}

#[test]
fn the_table_of_commands_comes_before_globals() {
    let mut bench = Bench::new(SCRIPT);
    let task = bench.spawn(3);
    for command in ["prepare", "cleanup", "warmup"] {
        assert_eq!(bench.run(task, Entry::Command(command)).unwrap(), End::Finished { stop: false });
    }
    assert_eq!(bench.host.printed, ["prepare", "cleanup", "warmup\t3"]);
}

#[test]
fn scripts_can_ask_about_commands_and_call_them() {
    let mut bench = Bench::new(SCRIPT);
    let task = bench.spawn(0);
    bench.run(task, Entry::Command("show")).unwrap();
    assert_eq!(
        bench.host.printed,
        [
            "true\tfalse",
            "true\tfalse",
            "cleanup",
            "true\tfalse\ttrue",
            "test.lua\trun\tsysbench\ttest.lua\trun"
        ]
    );
}

#[test]
fn an_exit_is_asked_for_after_what_was_printed() {
    for (argument, status) in [("", 0), ("nil", 0), ("true", 0), ("false", 1), ("3", 3), ("'3'", 3)] {
        let mut bench = Bench::new(&as_command(&format!("print('last words') os.exit({argument})")));
        run_go(&mut bench).unwrap();
        assert_eq!((bench.host.exited, bench.host.printed.len()), (Some(status), 1), "{argument}");
    }
}

#[test]
fn an_exit_status_that_is_no_number_is_an_error() {
    let error = failure_of(Bench::new(&as_command("os.exit('three')")));
    assert_eq!(error, "test.lua:2: bad argument #1 (number expected, got string)");
}

/// Environment variable that is set in the child process whose script ends the process at its top level.
const ENDED: &str = "DYNO_TEST_ENDED";

/// Starts itself as another process. That process reports on standard error that its standard output can be closed, and
/// continues when the output is closed.
#[test]
fn an_exit_at_the_top_level_needs_no_reader_of_what_was_printed() {
    if std::env::var_os(ENDED).is_some() {
        eprintln!("ready");
        std::io::stdin().lock().read_line(&mut String::new()).unwrap();
        let _ = Runtime::new(config("print('last words') os.exit(3)"));
        unreachable!("the script has ended the process");
    }
    let name = "commands::an_exit_at_the_top_level_needs_no_reader_of_what_was_printed";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(ENDED, "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(err.next().unwrap().unwrap(), "ready");
    drop(child.stdout.take());
    writeln!(child.stdin.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{:?}", err.collect::<Vec<_>>());
}

#[test]
fn constants_are_sysbench_s() {
    let lines = printed(
        "local c = sysbench.cmdline
         print(c.ARG_NULL, c.ARG_BOOL, c.ARG_INT, c.ARG_SIZE, c.ARG_DOUBLE, c.ARG_STRING, c.ARG_LIST, c.ARG_FILE,
           c.ARG_MAX, c.PARALLEL_COMMAND)",
    );
    assert_eq!(lines, ["0\t1\t2\t3\t4\t5\t6\t7\t8\ttrue"]);
}

#[test]
fn what_is_written_keeps_its_order_with_what_is_printed() {
    let body =
        "io.write('a', 1) print('b') io.write('c\\nd\\ne') io.stdout:write('f\\n') io.write('last\\n')";
    assert_eq!(printed(body), ["a1b", "c", "d", "ef", "last"]);
}

#[test]
fn what_is_written_elsewhere_goes_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let body = format!(
        "local file = io.open('{0}', 'w') file:write('one') file:close()
         io.output(io.open('{0}', 'a')) io.write(' two') io.output():close() io.output(io.stdout)
         print(pcall(io.write, {{}}))",
        path.display()
    );
    let printed = printed(&body);
    assert!(
        printed[0].starts_with("false\t") && printed[0].contains("string expected, got table"),
        "{printed:?}"
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one two");
}
