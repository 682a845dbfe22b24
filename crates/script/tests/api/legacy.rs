//! Scripts for sysbench 0.4 and 0.5.

use dyno_script::{Config, Entry};

use crate::support::{Bench, config};

#[test]
fn a_script_of_05_needs_no_db_connect() {
    let mut bench = Bench::new(
        "function prepare() db_query('CREATE TABLE t (a int)') end
         function thread_init(thread_id) start = thread_id end
         function event(thread_id)
           db_query('SELECT ' .. start + thread_id)
           local rows = db_query('SELECT 2')
         end
         function thread_done() db_disconnect() end",
    );
    let task = bench.spawn(3);
    for entry in [Entry::ThreadInit, Entry::Event, Entry::Event, Entry::ThreadDone] {
        bench.run(task, entry).unwrap();
    }
    assert_eq!(
        bench.host.asked,
        [
            "Connect",
            "query 0: SELECT 6",
            "query 0: SELECT 2",
            "query 0: SELECT 6",
            "query 0: SELECT 2",
            "Disconnect { connection: 0 }"
        ]
    );
}

/// Scripts of 0.5 load shared code from files in their own folder, and replace some functions of these files with their
/// own.
#[test]
fn a_script_of_05_builds_on_a_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let common = "
        function create_insert(number) error('to be replaced') end
        function prepare() set_vars() db_connect() for i = 1, oltp_tables_count do create_insert(i) end return 0 end
        function set_vars()
          oltp_tables_count = tonumber(oltp_tables_count) or 1
          oltp_read_only = oltp_read_only == 'on'
        end";
    std::fs::write(folder.path().join("common.lua"), common).unwrap();
    let source = "
        pathtest = string.match(test, '(.*/)') or ''
        dofile(pathtest .. 'common.lua')
        create_insert = function(number)
          db_query('CREATE TABLE t' .. number .. ' /*! ENGINE = ' .. mysql_table_engine .. ' */ ' .. (mysql_table_options or ''))
          db_bulk_insert_init('INSERT INTO t' .. number .. ' VALUES')
          for i = 1, 2 do db_bulk_insert_next('(' .. i .. ')') end
          db_bulk_insert_done()
          print(db_driver, myisam_max_rows, num_threads, oltp_read_only, table.getn({ 1, 2 }), table.maxn({ 1 }))
        end";
    let name = folder.path().join("script.lua").display().to_string();
    let options = [("oltp-tables-count", "2"), ("oltp-read-only", "on")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut bench = Bench::with(Config { name, options, command: "prepare".into(), ..config(source) });
    let task = bench.spawn(0);
    bench.run(task, Entry::Command("prepare")).unwrap();
    assert_eq!(bench.host.printed, ["mysql\t1000000\t1\ttrue\t2\t1"; 2]);
    assert_eq!(bench.host.asked[1], "query 0: CREATE TABLE t1 /*! ENGINE = innodb */ ");
    assert!(
        bench.host.asked.contains(&"send 0: INSERT INTO t2 VALUES (1),(2)".to_owned()),
        "{:?}",
        bench.host.asked
    );
}

#[test]
fn prepared_statements_of_05_send_what_their_table_holds_when_they_are_executed() {
    let mut bench = Bench::new(
        "function thread_init()
           begin_stmt = db_prepare('BEGIN')
           params = { 0, '' }
           stmt = db_prepare('SELECT name FROM t WHERE id = ? AND c = ?')
           db_bind_param(stmt, params)
         end
         function event()
           db_execute(begin_stmt)
           params[1], params[2] = (params[1] or 0) + 1, 'x'
           local rs = db_execute(stmt)
           db_store_results(rs)
           db_free_results(rs)
         end
         function thread_done() db_close(stmt) db_disconnect() end",
    );
    let task = bench.spawn(0);
    for entry in [Entry::ThreadInit, Entry::Event, Entry::Event, Entry::ThreadDone] {
        bench.run(task, entry).unwrap();
    }
    let executed: Vec<_> = bench.host.asked.iter().filter(|asked| asked.contains("Int(")).collect();
    assert!(executed.len() == 2 && executed[1].contains("Int(2)"), "{executed:?}");
}

#[test]
fn a_query_of_05_has_no_result() {
    let mut bench = Bench::new(
        "function event() local a, b = db_query('SELECT 1'), db_query('UPDATE t SET a = 1') print(a, b) end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.printed, ["nil\tnil"]);
}

#[test]
fn options_of_05_are_globals_that_hold_text_also_where_a_number_is_wanted() {
    let source = "function event()
        for _ = 1, 100 do
          local id = sb_rand(1, my_rows)
          if id < 1 or id > 600 then error('out of range') end
        end
        print(mysql_table_engine, myisam_max_rows, max_requests, max_time, tx_rate)
      end";
    let options = [("my-rows", "600"), ("mysql-table-engine", "myisam"), ("myisam-max-rows", "7")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let globals = [("max_requests", "3"), ("max_time", "2"), ("tx_rate", "5")];
    let globals = globals.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut bench = Bench::with(Config { options, globals, ..config(source) });
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.printed, ["myisam\t7\t3\t2\t5"]);
}
