//! Calls of published scripts, for both generations of sysbench's interface.

use dyno_script::{Counter, Entry};

use crate::support::{Bench, printed};

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

/// Published TPC-C scripts declare their error counters like this.
#[test]
fn declarations_may_use_the_types_that_sysbench_has() {
    let mut bench = Bench::new(
        "ffi.cdef[[
           void sb_counter_inc(int, sb_counter_type);
           typedef uint32_t useconds_t;
           int usleep(useconds_t useconds);
           int sql_ping(sql_connection *);
         ]]
         function event(tid)
           ffi.C.sb_counter_inc(tid, ffi.C.SB_CNT_ERROR)
           ffi.C.usleep(10)
         end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.counted, [(Counter::Error, 1)]);
    assert_eq!(bench.host.asked, ["Sleep { us: 10 }"]);
}

#[test]
fn random_numbers_may_be_taken_from_the_library() {
    let lines = printed(
        "local buffer = ffi.new('char[?]', 20)
         ffi.C.sb_rand_str('ab#', buffer)
         local length = ffi.C.sb_rand_varstr(buffer, 4, 4)
         print(ffi.C.sb_rand_uniform(7, 7), ffi.C.sb_rand_default(3, 3), length,
           ffi.C.sb_rand_uniform_double() < 1, ffi.C.sb_rand_unique() >= 0)",
    );
    assert_eq!(lines, ["7\t3\t4\ttrue\ttrue"]);
}

#[test]
fn a_function_inside_sysbench_is_missed_by_its_name() {
    let lines = printed("print(pcall(function() return ffi.C.sb_lua_new end))");
    assert!(lines[0].contains("ffi.C.sb_lua_new is a function inside sysbench's program"), "{lines:?}");
    let lines = printed("print(pcall(function() return ffi.C.no_such_thing end))");
    assert!(lines[0].starts_with("false") && lines[0].contains("no_such_thing"), "{lines:?}");
}

#[test]
fn unique_numbers_within_bounds_come_once_each() {
    for name in ["sb_rand_uniq", "sysbench.rand.unique"] {
        let lines = printed(&format!(
            "local seen, count = {{}}, 0
             for _ = 1, 1000 do
               local number = {name}(1, 1000)
               if number >= 1 and number <= 1000 and not seen[number] then
                 seen[number] = true
                 count = count + 1
               end
             end
             print(count, pcall({name}, 2, 1))"
        ));
        assert!(lines[0].starts_with("1000\tfalse\t"), "{name}: {lines:?}");
    }
}
