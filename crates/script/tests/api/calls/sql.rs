//! Drivers, connections, results, bulk inserts.

use dyno_script::{Config, Counter, Entry, Reply};

use crate::support::{Bench, as_command, config, failure_of, printed, printed_by, refusal, run_go};

#[test]
fn names_and_numbers_are_sysbench_s() {
    let lines = printed(
        "local t, e = sysbench.sql.type, sysbench.sql.error
         print(t.NONE, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.TIME, t.DATE, t.DATETIME,
           t.TIMESTAMP, t.CHAR, t.VARCHAR)
         print(e.NONE, e.IGNORABLE, e.FATAL)
         print(sysbench.error.NONE, sysbench.error.RESTART_EVENT)
         print(sysbench.version, sysbench.version_string)
         print(sysbench.sql.driver():name(), sysbench.sql.driver('mysql'):name())
         print(sysbench.sql.driver(), con)",
    );
    assert_eq!(
        lines,
        [
            "0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12",
            "0\t1\t2",
            "0\t1",
            "1.0.20\tsysbench 1.0.20",
            "mysql\tmysql",
            "<sql_driver>\t<sql_connection>"
        ]
    );
}

#[test]
fn another_driver_than_the_run_s_is_refused() {
    let error = failure_of(Bench::new(&as_command("sysbench.sql.driver('pgsql')")));
    assert_eq!(
        error,
        "test.lua:2: the script asks for the driver 'pgsql', and this run has 'mysql' (--db-driver)"
    );
}

#[test]
fn a_statement_without_rows_gives_what_is_nil_and_yet_true() {
    let lines = printed(
        "local result = con:query('UPDATE t SET a = 1')
         print(result == nil, result and 'true' or 'false', result.nrows, result:fetch_row())
         result:free()",
    );
    assert_eq!(lines, ["true\ttrue\t0"]);
}

#[test]
fn rows_are_tables_of_strings_in_which_null_is_nil() {
    let mut bench = Bench::new(&as_command(
        "local result = con:query('SELECT')
         print(result, result.nrows, result.nfields, result.nothing)
         for n = 1, 3 do
           local row = result:fetch_row()
           if row then print(unpack(row, 1, 3)) else print(row) end
         end
         result:free()",
    ));
    bench.host.rows.extend([vec![Some("1"), None, Some("x")], vec![None, Some(""), None]]);
    assert_eq!(printed_by(bench), ["<sql_result>\t2\t3\tnil", "1\tnil\tx", "nil\t\tnil", "nil"]);
}

#[test]
fn query_row_gives_the_first_row_s_values() {
    let mut bench = Bench::new(&as_command(
        "print(select('#', con:query_row('SELECT a, b')))
         print(con:query_row('SELECT c'))
         print(select('#', con:query_row('SELECT nothing')))
         print(select('#', con:query_row('UPDATE t')))",
    ));
    bench.host.rows.extend([vec![Some("1"), None], vec![Some("7")]]);
    assert_eq!(printed_by(bench), ["2", "7", "0", "0"]);
}

#[test]
fn several_results_are_gone_through() {
    let mut bench = Bench::new(&as_command(
        "con:query('SELECT 1; SELECT 2')
         print(con:more_results())
         print(con:next_result())
         print(con:next_result() == nil)",
    ));
    bench.host.rows.extend([vec![Some("1")], vec![Some("2")]]);
    let task = bench.spawn(0);
    let rows = |has_rows| Reply::Result { has_rows };
    bench.host.replies.extend([Reply::Connected(0), rows(true), rows(true), rows(false)]);
    bench.run(task, Entry::Command("go")).unwrap();
    assert_eq!(bench.host.printed, ["true", "<sql_result>", "true"]);
}

#[test]
fn connections_are_told_apart_and_can_be_closed_and_reopened() {
    let mut bench = Bench::new(&as_command(
        "local other = sysbench.sql.driver():connect()
         con:query('SELECT 1')
         other:query('SELECT 2')
         print(con:reconnect(), con:disconnect(), con:disconnect())
         print(con:reconnect())
         con:query('SELECT 3')",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(
        bench.host.asked,
        [
            "Connect",
            "Connect",
            "query 0: SELECT 1",
            "query 1: SELECT 2",
            "Reconnect { connection: 0 }",
            "Disconnect { connection: 0 }",
            "Connect",
            "query 2: SELECT 3"
        ]
    );
    assert_eq!(bench.host.printed, ["true\ttrue\ttrue", "true"]);
}

#[test]
fn a_closed_connection_says_so() {
    let error = failure_of(Bench::new(&as_command("con:disconnect()\ncon:query('SELECT 1')")));
    assert_eq!(error, "test.lua:3: the connection is closed: the script has called its disconnect()");
}

#[test]
fn a_refused_connection_is_an_error_where_it_is_asked_for() {
    let mut bench = Bench::new(&as_command(""));
    bench.host.replies.push_back(refusal(2002, "HY000", "no such socket", false));
    let error = failure_of(bench);
    assert_eq!(error, "test.lua:1: connection creation failed: error 2002 (HY000): no such socket");
}

#[test]
fn a_failed_query_is_an_error_at_its_line_and_stays_on_the_connection() {
    let mut bench = Bench::new(&as_command(
        "local good, message = pcall(con.query, con, 'SELEKT')
         print(good, message)
         print(con.error, con.sql_errno, con.sql_state, con.sql_errmsg, ffi.string(con.sql_errmsg))
         con:check_error(nil, 'SELEKT')",
    ));
    bench.host.replies.extend([Reply::Connected(0), refusal(1064, "42000", "a syntax error", false)]);
    let error = run_go(&mut bench).unwrap_err().to_string();
    assert_eq!(
        bench.host.printed,
        [
            "false\tSQL error, errno = 1064, state = '42000': a syntax error",
            "2\t1064\t42000\ta syntax error\ta syntax error"
        ]
    );
    assert_eq!(
        error,
        "test.lua:5: SQL error, errno = 1064, state = '42000': a syntax error, for query 'SELEKT'"
    );
}

#[test]
fn query_row_and_prepare_fail_at_the_script_s_line() {
    let select = ", for query 'SELECT'";
    for (body, query) in [
        ("con:query_row('SELECT')", select),
        ("con:prepare('SELECT')", select),
        ("con:reconnect()", ""),
        ("con:next_result()", ""),
    ] {
        let mut bench = Bench::new(&as_command(&format!("local x\n{body}\nprint(x)")));
        bench.host.replies.extend([Reply::Connected(0), refusal(2013, "HY000", "gone", false)]);
        let expected = format!("test.lua:3: SQL error, errno = 2013, state = 'HY000': gone{query}");
        assert_eq!(failure_of(bench), expected, "{body}");
    }
}

#[test]
fn an_error_shows_its_statement_in_a_line_and_not_all_of_a_long_one() {
    let mut bench = Bench::new(&as_command("con:query('SELECT\\n  1, ' .. string.rep('x', 1000))"));
    bench.host.replies.extend([Reply::Connected(0), refusal(1064, "42000", "no", false)]);
    let shown = format!(", for query 'SELECT 1, {}...'", "x".repeat(190));
    let error = failure_of(bench);
    assert!(error.ends_with(&shown), "{error}");
}

#[test]
fn a_statement_is_not_cut_within_a_character() {
    for (before, character) in [(199, "é"), (198, "€"), (197, "😀")] {
        let mut bench = Bench::new(&as_command(&format!(
            "con:query(string.rep('x', {before}) .. '{character}{character}')"
        )));
        bench.host.replies.extend([Reply::Connected(0), refusal(1064, "42000", "no", false)]);
        let error = failure_of(bench);
        let shown = format!(", for query '{}...'", "x".repeat(before));
        assert!(error.ends_with(&shown), "{error}");
    }
}

#[test]
fn an_error_that_is_raised_again_names_the_statement_of_its_own_task() {
    let mut bench = Bench::new(
        "function event(tid)
           local con = sysbench.sql.driver():connect()
           local _, message = pcall(con.query, con, 'UPDATE t' .. tid)
           ffi.C.usleep(1)
           error(message, 0)
         end",
    );
    let tasks = [bench.spawn(0), bench.spawn(1)];
    for task in tasks {
        assert!(bench.runtime.start(task, Entry::Event).unwrap());
    }
    for reply in [Reply::Done, Reply::Connected(0), refusal(1146, "42S02", "no table", false)] {
        for task in tasks {
            bench.runtime.resume(task, &mut bench.host, reply.clone()).unwrap();
        }
    }
    for (tid, task) in tasks.into_iter().enumerate() {
        let error = bench.runtime.resume(task, &mut bench.host, Reply::Done).unwrap_err().to_string();
        let statement = format!("'42S02': no table, for query 'UPDATE t{tid}'");
        assert!(error.ends_with(&statement), "{error}");
    }
}

#[test]
fn a_statement_that_goes_well_forgets_the_error_before_it() {
    let bulk =
        "con:bulk_insert_init('INSERT INTO t VALUES') con:bulk_insert_next('(1)') con:bulk_insert_done()";
    for (command, after) in [
        ("run", "con:query('SELECT 1')"),
        ("run", "con:query('BEGIN')"),
        ("run", "con:query_row('SELECT 1')"),
        ("run", "con:next_result()"),
        ("run", "stmt:execute()"),
        ("run", bulk),
        ("go", bulk),
    ] {
        let script = as_command(&format!(
            "local stmt = con:prepare('SELECT 1')
             pcall(con.query, con, 'SELECT wrong')
             print(con.sql_errno, con.sql_state, con.sql_errmsg, con.error == sysbench.sql.error.FATAL)
             {after}
             print(con.sql_errno, con.sql_state, con.sql_errmsg, con.error == sysbench.sql.error.NONE)"
        ));
        let mut bench = Bench::with(Config { command: command.into(), ..config(&script) });
        let replies = [Reply::Connected(0), Reply::Prepared(1), refusal(1054, "42S22", "no column", false)];
        bench.host.replies.extend(replies);
        run_go(&mut bench).unwrap();
        assert_eq!(bench.host.printed, ["1054\t42S22\tno column\ttrue", "0\t\t\ttrue"], "{after}");
    }
}

#[test]
fn a_bulk_insert_that_is_done_can_be_done_again() {
    let mut bench = Bench::new(&as_command(
        "con:bulk_insert_init('INSERT INTO t VALUES') con:bulk_insert_next('(1)')
         print(con:bulk_insert_done(), con:bulk_insert_done())",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(bench.host.printed, ["true\ttrue"]);
    assert_eq!(bench.host.asked.len(), 2, "one statement is sent: {:?}", bench.host.asked);
}

#[test]
fn bulk_inserts_are_put_together_and_their_rows_counted() {
    let mut bench = Bench::new(&as_command(
        "print(con:bulk_insert_init('INSERT INTO t VALUES'))
         for n = 1, 3 do con:bulk_insert_next('(' .. n .. ')') end
         print(con:bulk_insert_done())",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(bench.host.asked, ["Connect", "query 0: INSERT INTO t VALUES (1),(2),(3)"]);
    assert_eq!(bench.host.counted, [(Counter::BulkRow, 3)]);
    assert_eq!(bench.host.printed, ["true", "true"]);
}

#[test]
fn bulk_inserts_are_sent_at_half_a_megabyte() {
    let mut bench = Bench::new(&as_command(
        "con:bulk_insert_init('INSERT INTO t VALUES')
         local row = '(' .. ('x'):rep(1021) .. ')'
         for n = 1, 1200 do con:bulk_insert_next(row) end
         con:bulk_insert_done()",
    ));
    run_go(&mut bench).unwrap();
    let sizes: Vec<usize> = bench.host.asked[1..].iter().map(String::len).collect();
    assert_eq!(sizes.len(), 3);
    assert!(sizes.iter().all(|&size| size < 513 * 1024), "{sizes:?}");
    assert_eq!(bench.host.counted.iter().map(|(_, rows)| rows).sum::<u64>(), 1200);
}

#[test]
fn a_bulk_insert_without_rows_sends_nothing_and_one_without_init_fails() {
    let mut bench = Bench::new(&as_command(
        "con:bulk_insert_init('INSERT INTO t VALUES')
         con:bulk_insert_done()
         con:bulk_insert_next('(1)')",
    ));
    let error = run_go(&mut bench).unwrap_err().to_string();
    assert_eq!(bench.host.asked, ["Connect"]);
    assert_eq!(error, "test.lua:4: bulk_insert_init() must be called first");
}

#[test]
fn a_failed_bulk_insert_is_an_error_at_its_line() {
    let mut bench = Bench::new(&as_command(
        "con:bulk_insert_init('INSERT INTO t VALUES')
         con:bulk_insert_next('(1)')
         con:bulk_insert_done()
         print('not reached')",
    ));
    bench.host.replies.extend([Reply::Connected(0), refusal(1114, "HY000", "the table is full", false)]);
    assert_eq!(
        failure_of(bench),
        "test.lua:4: SQL error, errno = 1114, state = 'HY000': the table is full, for query 'INSERT INTO t VALUES'"
    );
}

/// Creates a bench for a script whose command `go` has the code `body`. The configuration names `go` as the command of
/// the command line, as it would name `prepare`.
fn command(body: &str) -> Bench {
    Bench::with(Config { command: "go".into(), ..config(&as_command(body)) })
}

/// Code after which one row is in a statement that is being sent, and another row is not sent yet.
const UNDER_WAY: &str = "
  con:bulk_insert_init('INSERT INTO t VALUES')
  con:bulk_insert_next('(' .. ('x'):rep(520000) .. ')'); con:bulk_insert_next('(' .. ('y'):rep(9000) .. ')')
";

fn asked(bench: &Bench) -> Vec<&str> {
    bench.host.asked.iter().map(|asked| &asked[..asked.len().min(32)]).collect()
}

#[test]
fn a_command_makes_rows_while_the_server_works() {
    let mut bench =
        command(&format!("{UNDER_WAY} con:bulk_insert_done() print(con:query('SELECT 1') ~= nil)"));
    run_go(&mut bench).unwrap();
    assert_eq!(
        asked(&bench),
        [
            "Connect",
            "send 0: INSERT INTO t VALUES (xx",
            "Receive { connection: 0 }",
            "send 0: INSERT INTO t VALUES (yy",
            "Receive { connection: 0 }",
            "query 0: SELECT 1"
        ]
    );
    assert_eq!(bench.host.counted, [(Counter::BulkRow, 1), (Counter::BulkRow, 1)]);
}

#[test]
fn whatever_uses_the_connection_waits_for_the_bulk_insert_first() {
    for (call, request) in [
        ("con:query('SELECT 1')", "query 0: SELECT 1"),
        ("con:prepare('SELECT 1')", "prepare 0: SELECT 1"),
        ("con:disconnect()", "Disconnect { connection: 0 }"),
        ("con:reconnect()", "Reconnect { connection: 0 }"),
        ("con:next_result()", "NextResult { connection: 0 }"),
        ("statement:execute()", "Execute { connection: 0, stateme"),
        ("statement:close()", "CloseStatement { connection: 0, "),
    ] {
        let mut bench = command(&format!("local statement = con:prepare('SELECT 2')\n{UNDER_WAY} {call}"));
        run_go(&mut bench).unwrap();
        assert_eq!(asked(&bench)[3..], ["Receive { connection: 0 }", request], "{call}");
    }
}

#[test]
fn an_error_of_a_statement_under_way_is_that_statement_s() {
    for call in ["con:bulk_insert_done()", "con:query('SELECT 1')", "con:disconnect()"] {
        let mut bench = command(&format!(
            "sysbench.hooks.sql_error_ignorable = function(error) print(error.query) end {UNDER_WAY} {call}"
        ));
        let full = refusal(1114, "HY000", "the table is full", false);
        bench.host.replies.extend([Reply::Connected(0), Reply::Done, full]);
        let error = run_go(&mut bench).unwrap_err().to_string();
        assert_eq!(
            error,
            "test.lua:5: SQL error, errno = 1114, state = 'HY000': the table is full, for query 'INSERT INTO t VALUES'",
            "{call}"
        );
        assert_eq!(bench.host.printed, ["INSERT INTO t VALUES"], "{call}");
        assert_eq!(bench.host.counted, [], "{call}");
    }
}

#[test]
fn bulk_inserts_of_several_connections_are_apart_and_can_be_begun_anew() {
    let mut bench = Bench::new(&as_command(
        "local other = sysbench.sql.driver():connect()
         con:bulk_insert_init('INSERT INTO t VALUES')
         other:bulk_insert_init('INSERT INTO u VALUES')
         con:bulk_insert_next('(1)'); other:bulk_insert_next('(2)')
         con:bulk_insert_init('INSERT INTO v VALUES')
         con:bulk_insert_next('(3)')
         con:bulk_insert_done(); other:bulk_insert_done()",
    ));
    run_go(&mut bench).unwrap();
    assert_eq!(
        bench.host.asked[2..],
        ["query 0: INSERT INTO v VALUES (3)", "query 1: INSERT INTO u VALUES (2)"]
    );
}

#[test]
fn legacy_globals_work_on_a_connection_of_their_own() {
    let mut bench = Bench::new(
        "function go()
           print(db_connect(), DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)
           db_query('SELECT 1')
           db_bulk_insert_init('INSERT INTO t VALUES')
           db_bulk_insert_next('(1)')
           db_bulk_insert_done()
           local values = { 0, 'a' }
           local statement = db_prepare('SELECT ?, ?')
           db_bind_param(statement, values)
           db_bind_result(statement, values)
           values[1], values[2] = 5, 'b'
           local result = db_execute(statement)
           db_store_results(result)
           db_free_results(result)
           db_close(statement)
           db_disconnect()
           print(sysbench.db.query == db_query, test, thread_id)
           local unique = sb_rand_uniq(1, 10)
           print(unique >= 1 and unique <= 10 and sb_rand_uniq() >= 0, sb_rand(3, 3), sb_rand_uniform(4, 4),
             sb_rand_str('x#'):len(), sb_rnd() < 2 ^ 31, sb_rand_special(5, 5), sb_rand_gaussian(6, 6))
         end
         sysbench.cmdline.commands = { go = { go } }",
    );
    run_go(&mut bench).unwrap();
    assert_eq!(
        bench.host.asked,
        [
            "Connect",
            "query 0: SELECT 1",
            "query 0: INSERT INTO t VALUES (1)",
            "prepare 0: SELECT ?, ?",
            "Execute { connection: 0, statement: 1, params: [Int(5), Text([98])] }",
            "CloseStatement { connection: 0, statement: 1 }",
            "Disconnect { connection: 0 }"
        ]
    );
    assert_eq!(bench.host.printed, ["true\t0\t1\t2", "true\ttest.lua\t0", "true\t3\t4\t2\ttrue\t5\t6"]);
}
