//! Events, their restarts, and scripts' own loops.

use dyno_script::{Counter, Entry, Reply, RunBy};

use crate::support::{Bench, End, refusal};

#[test]
fn what_an_event_returns_decides_whether_its_task_stops() {
    for (value, stop) in [("", false), ("nil", false), ("false", false), ("0", true), ("true", true)] {
        let mut bench = Bench::new(&format!("function event() return {value} end"));
        let task = bench.spawn(0);
        assert_eq!(bench.run(task, Entry::Event).unwrap(), End::Finished { stop }, "return {value}");
    }
}

#[test]
fn entries_get_the_task_s_number_and_those_that_are_missing_are_told() {
    let mut bench = Bench::new(
        "function thread_init(tid) print('init', tid, sysbench.tid, thread_id) end
         function event(tid) print('event', tid) end
         function thread_done(tid) print('done', tid) end
         function init(...) print('once', select('#', ...)) end",
    );
    let task = bench.spawn(7);
    for entry in [Entry::Init, Entry::ThreadInit, Entry::Event, Entry::ThreadDone] {
        assert_eq!(bench.run(task, entry).unwrap(), End::Finished { stop: false });
    }
    assert_eq!(bench.host.printed, ["once\t0", "init\t7\t7\t7", "event\t7", "done\t7"]);
    for entry in [Entry::Done, Entry::ThreadRun, Entry::Command("go"), Entry::Command("prepare")] {
        assert_eq!(bench.run(task, entry).unwrap(), End::Undefined);
    }
}

#[test]
fn an_event_that_the_script_puts_in_the_place_of_another_is_the_next_to_run() {
    let mut bench = Bench::new("function event() print('first') event = function() print('second') end end");
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.printed, ["first", "second"]);
}

const QUERYING: &str = "
    function thread_init() con = sysbench.sql.driver():connect() end
    function event() con:query('UPDATE t') end";

/// Runs one event of a script whose query fails.
fn event_that_fails(script: &str, failure: Reply) -> (Bench, Result<End, String>) {
    let mut bench = Bench::new(script);
    let task = bench.spawn(0);
    bench.run(task, Entry::ThreadInit).unwrap();
    bench.host.replies.push_back(failure);
    let end = bench.run(task, Entry::Event).map_err(|error| error.to_string());
    (bench, end)
}

#[test]
fn an_ignorable_error_restarts_the_event_and_any_other_ends_it() {
    let (_, end) = event_that_fails(QUERYING, refusal(1213, "40001", "Deadlock found", true));
    assert_eq!(end, Ok(End::Restart));
    let (_, end) = event_that_fails(QUERYING, refusal(1146, "42S02", "no such table", false));
    let message = "test.lua:3: SQL error, errno = 1146, state = '42S02': no such table, for query 'UPDATE t'";
    assert_eq!(end, Err(message.to_owned()));
}

#[test]
fn a_restarted_task_goes_on() {
    let (mut bench, _) = event_that_fails(QUERYING, refusal(1213, "40001", "Deadlock found", true));
    let task = bench.spawn(1);
    bench.run(task, Entry::ThreadInit).unwrap();
    assert_eq!(bench.run(task, Entry::Event).unwrap(), End::Finished { stop: false });
}

#[test]
fn the_script_s_hook_can_make_an_error_ignorable() {
    let script = format!(
        "{QUERYING}
        sysbench.hooks.sql_error_ignorable = function(err)
          print(err.connection == con, err.query, err.sql_errno, err.sql_state, err.sql_errmsg, err.errcode)
          return err.sql_errno == 1062
        end"
    );
    let (bench, end) = event_that_fails(&script, refusal(1062, "23000", "Duplicate", false));
    assert_eq!(end, Ok(End::Restart));
    assert_eq!(bench.host.printed, ["true\tUPDATE t\t1062\t23000\tDuplicate\tnil"]);
    let (_, end) = event_that_fails(&script, refusal(1146, "42S02", "no such table", false));
    assert!(end.is_err());
}

#[test]
fn the_hook_before_a_restart_may_query() {
    let script = format!(
        "{QUERYING}
        sysbench.hooks.before_restart_event = function(err)
          print(err.errcode == sysbench.error.RESTART_EVENT, err.sql_errno)
          con:reconnect()
        end"
    );
    let (bench, end) = event_that_fails(&script, refusal(2013, "HY000", "gone", true));
    assert_eq!(end, Ok(End::Restart));
    assert_eq!(bench.host.printed, ["true\t2013"]);
    assert_eq!(bench.host.asked.last().unwrap(), "Reconnect { connection: 0 }");
}

#[test]
fn a_script_can_catch_an_ignorable_error_itself() {
    let script = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
          local done, err = pcall(con.query, con, 'UPDATE t')
          print(done, err.errcode, err.query)
        end";
    let (bench, end) = event_that_fails(script, refusal(1213, "40001", "Deadlock found", true));
    assert_eq!(end, Ok(End::Finished { stop: false }));
    assert_eq!(bench.host.printed, ["false\t1\tUPDATE t"]);
}

#[test]
fn an_ignorable_error_outside_of_events_is_an_error() {
    let mut bench = Bench::new("function prepare() sysbench.sql.driver():connect():query('DROP') end");
    let task = bench.spawn(0);
    bench.host.replies.extend([Reply::Connected(0), refusal(1213, "40001", "Deadlock found", true)]);
    let error = bench.run(task, Entry::Command("prepare")).unwrap_err().to_string();
    assert_eq!(error, "SQL error, errno = 1213, state = '40001': Deadlock found, for query 'DROP'");
}

#[test]
fn a_loop_of_the_script_s_own_asks_for_events_and_counts_them() {
    let mut bench = Bench::new(
        "function event() print('event') end
         function thread_run(tid)
           while ffi.C.sb_more_events(tid) do
             ffi.C.sb_event_start(tid)
             event(tid)
             ffi.C.sb_event_stop(tid)
           end
         end",
    );
    assert_eq!(bench.runtime.info().run, RunBy::OwnLoop);
    let task = bench.spawn(0);
    bench.host.replies.extend([Reply::Continue(true), Reply::Continue(true)]);
    bench.run(task, Entry::ThreadRun).unwrap();
    assert_eq!(bench.host.printed, ["event", "event"]);
    assert_eq!(bench.host.counted, [(Counter::Event, 1), (Counter::Event, 1)]);
}

#[test]
fn sysbench_s_own_loop_can_be_called_and_restarts_events() {
    let mut bench = Bench::new(
        "local loop = thread_run
         function thread_run(tid)
           con = sysbench.sql.driver():connect()
           loop(tid)
         end
         sysbench.hooks.before_restart_event = function() print('again') end
         function event() con:query('UPDATE t') end",
    );
    let task = bench.spawn(0);
    bench.host.replies.extend([
        Reply::Connected(0),
        Reply::Continue(true),
        refusal(1213, "40001", "Deadlock found", true),
        Reply::Result { has_rows: false },
        Reply::Continue(false),
    ]);
    bench.run(task, Entry::ThreadRun).unwrap();
    assert_eq!(bench.host.printed, ["again"]);
    assert_eq!(bench.host.counted, [(Counter::Event, 1)]);
}

#[test]
fn sleeping_lets_others_run_and_counters_are_the_host_s() {
    let mut bench = Bench::new(
        "ffi.cdef('int usleep(int microseconds); int abs(int j);')
         function event(tid)
           print(ffi.C.usleep(1500), ffi.C.abs(-3))
           ffi.C.sb_counter_inc(tid, ffi.C.SB_CNT_ERROR)
           ffi.C.sb_counter_inc(tid, ffi.C.SB_CNT_READ)
           print(require('ffi').C == ffi.C, require('ffi').string('x'))
         end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.asked, ["Sleep { us: 1500 }"]);
    assert_eq!(bench.host.counted, [(Counter::Error, 1), (Counter::Read, 1)]);
    assert_eq!(bench.host.printed, ["0\t3", "true\tx"]);
}
