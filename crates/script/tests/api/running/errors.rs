//! Errors of invalid scripts.

use dyno_script::{Entry, Refused, Runtime, ScriptError};

use crate::support::{Bench, as_command, config, failure_of, run_go};

fn refused(source: &str) -> Refused {
    Runtime::new(config(source)).expect_err("the script should be refused")
}

#[test]
fn a_syntax_error_names_its_line() {
    let error = refused("local x = 1\nfunction event(\n");
    assert_eq!(error.to_string(), "test.lua:3: <name> or '...' expected near '<eof>'");
}

#[test]
fn the_first_line_may_name_an_interpreter_and_counts() {
    let mut bench = Bench::new("#!/usr/bin/env sysbench\nfunction event() error('here') end");
    let task = bench.spawn(0);
    assert_eq!(bench.run(task, Entry::Event).unwrap_err().to_string(), "test.lua:2: here");
}

#[test]
fn an_error_at_the_top_level_names_its_line() {
    assert_eq!(
        refused("local x\n\nprint(x.y)").to_string(),
        "test.lua:3: attempt to index local 'x' (a nil value)"
    );
}

#[test]
fn what_a_script_prints_before_it_is_refused_is_told() {
    for (source, printed) in [
        ("print('step 1') print('step', 2) error('x', 0)", &["step 1", "step\t2"][..]),
        ("print('step 1') sysbench.cmdline.options = { n = 5 }", &["step 1"]),
        ("error('x', 0)", &[]),
        ("print(", &[]),
    ] {
        assert_eq!(refused(source).printed, printed, "{source}");
    }
}

#[test]
fn an_error_in_a_function_names_its_line_and_the_task_goes_on() {
    let mut bench =
        Bench::new("function event(tid)\n  if not fine then fine = true; return nil + 1 end\nend");
    let task = bench.spawn(0);
    let error = bench.run(task, Entry::Event).unwrap_err();
    let message = "test.lua:2: attempt to perform arithmetic on a nil value".to_owned();
    assert_eq!(error, ScriptError::Runtime(message));
    assert!(bench.run(task, Entry::Event).is_ok());
}

#[test]
fn what_is_no_function_is_no_entry() {
    let mut bench = Bench::new("event = 5");
    assert!(!bench.runtime.info().is_runnable());
    let task = bench.spawn(0);
    let error = bench.runtime.start(task, Entry::Event).unwrap_err();
    assert_eq!(error.to_string(), "'event' is a number in the script, where a function is expected");
}

#[test]
fn native_functions_name_their_wrong_arguments() {
    let error = failure_of(Bench::new(&as_command("sysbench.rand.uniform(1)\nprint()")));
    assert_eq!(error, "test.lua:2: bad argument #2 (number expected, got nil)");
    let error = failure_of(Bench::new(&as_command("sysbench.rand.string({})\nprint()")));
    assert_eq!(error, "test.lua:2: bad argument #1 (string expected, got table)");
}

#[test]
fn errors_that_are_no_text_are_said_in_text() {
    for (body, message) in [
        ("error({})", "a table was raised as an error"),
        ("error(print)", "a function was raised as an error"),
        ("error(7, 0)", "7"),
        ("error({ sql_errmsg = 'x' })", "a table was raised as an error"),
        (
            "error({ sql_errno = '7', sql_state = 'HY000', sql_errmsg = 'x' })",
            "a table was raised as an error",
        ),
        (
            "error(setmetatable({}, { __index = function() error('no') end }))",
            "a table was raised as an error",
        ),
        (
            "error({ sql_errno = 7, sql_state = 'HY000', sql_errmsg = 'x' })",
            "SQL error, errno = 7, state = 'HY000': x",
        ),
    ] {
        assert_eq!(failure_of(Bench::new(&as_command(body))), message);
    }
}

#[test]
fn what_cannot_wait_says_what_to_do() {
    let cases = [
        (
            "coroutine.wrap(function() con:query('SELECT 1') end)()",
            "a coroutine of the script's own cannot wait for the database: use --scheduler=thread",
        ),
        (
            "table.sort({ 1, 2 }, function(a, b) con:query('SELECT 1') return a < b end)",
            "a function that table.sort, string.gsub or the like calls cannot wait for the database: \
             use --scheduler=thread",
        ),
        ("coroutine.yield()", "the script calls coroutine.yield() outside of any coroutine that it made"),
    ];
    for (body, message) in cases {
        let error = failure_of(Bench::new(&as_command(body)));
        assert!(error.ends_with(message), "{error}");
    }
    let error = refused("sysbench.sql.driver():connect()").to_string();
    assert!(error.ends_with("do it in thread_init(), or use --scheduler=thread"), "{error}");
}

#[test]
fn everything_can_wait_where_requests_block() {
    let mut config = config(&as_command(
        "coroutine.wrap(function() con:query('SELECT 1') end)()
         table.sort({ 1, 2 }, function(a, b) con:query('SELECT 2') return a < b end)
         print(con:query_row('SELECT 3'))",
    ));
    config.blocking = true;
    let mut bench = Bench::with(config);
    bench.host.rows.push_back(vec![Some("3")]);
    run_go(&mut bench).unwrap();
    assert_eq!(bench.host.asked[1], "query 0: SELECT 1");
    assert_eq!(bench.host.asked[2], "query 0: SELECT 2");
    assert_eq!(bench.host.printed, ["3"]);
}

#[test]
fn queries_may_be_made_inside_pcall_and_iterators() {
    let mut bench = Bench::new(&as_command(
        "print(pcall(function() return con:query('SELECT 1').nrows end))
         for row in function() return con:query_row('SELECT 2') end do print(row) end",
    ));
    bench.host.rows.extend([vec![Some("a")], vec![Some("b")]]);
    run_go(&mut bench).unwrap();
    assert_eq!(bench.host.printed, ["true\t2", "a", "b"]);
}

#[test]
fn a_script_is_compiled_without_being_run() {
    let check = |source: &str| {
        Runtime::check_syntax("mine.lua", source, dyno_script::MemoryLimit::new(64 << 20))
            .map_err(|error| error.to_string())
    };
    assert_eq!(check("#!/usr/bin/env sysbench\nerror('not run')"), Ok(()));
    assert_eq!(check("#!\n\nfunction ("), Err("mine.lua:3: '<name>' expected near '('".to_owned()));
    assert!(check("\u{1b}LJ").unwrap_err().contains("mine.lua: compiled Lua"));
}
