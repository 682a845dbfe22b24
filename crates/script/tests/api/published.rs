//! Calls of published scripts, for both generations of the interface of sysbench.

use dyno_script::{Config, Counter, Entry, Reply};

use crate::support::{Bench, config, printed};

/// Published TPC-C scripts declare their error counters in the same way as this script.
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

/// sysbench's bounds are unsigned 32-bit numbers. The ranges here are those from which 1.0.20 draws.
#[test]
fn bounds_of_more_than_32_bits_are_wrapped_as_in_c() {
    let lines = printed(
        "for _, draw in ipairs({ sb_rand, sb_rand_uniform, sysbench.rand.default, ffi.C.sb_rand_uniform }) do
           local lowest, highest = math.huge, 0
           for _ = 1, 1000 do
             local a, b = draw(1, 10000000000), draw(8000000000000000, 9000000000000000)
             lowest, highest = math.min(lowest, b), math.max(highest, b)
             assert(a >= 1 and a <= 1410065408, a)
           end
           print(lowest >= 640983040 and highest <= 3405611008)
         end
         print(sb_rand_uniq(4294967295, 1e15), sysbench.rand.uniform(-3, -3))",
    );
    assert_eq!(lines, ["true", "true", "true", "true", "4294967295\t-3"]);
}

#[test]
fn scripts_find_the_version_of_sysbench() {
    let versions = "function prepare() print(sysbench.version, sysbench.version_string) end";
    for version in ["1.0.20", "1.1.0"] {
        let mut bench = Bench::with(Config { sysbench_version: version.into(), ..config(versions) });
        let task = bench.spawn(0);
        bench.run(task, Entry::Command("prepare")).unwrap();
        assert_eq!(bench.host.printed, [format!("{version}\tsysbench {version}")]);
    }
}

/// Checks every name in the table `sysbench` of 1.0.20, and the type of its value.
#[test]
fn the_table_sysbench_is_whole() {
    let lines = printed(
        "local function types(table, names)
           local found = {}
           for name in names:gmatch('%S+') do found[#found + 1] = type(table[name]) end
           return unpack(found)
         end
         print(types(sysbench, 'version version_string tid opt error cmdline hooks sql rand histogram db'))
         print(types(sysbench, 'report_csv report_default report_json'))
         print(sysbench.error.NONE, sysbench.error.RESTART_EVENT, types(sysbench.histogram, 'new'))
         print(types(sysbench.cmdline, 'argv call_command command command_defined command_parallel'
           .. ' print_test_options read_cmdline_options script_path PARALLEL_COMMAND'))
         print(types(sysbench.rand, 'default gaussian pareto special string uniform uniform_double uniform_uint64 unique'))
         local db = 'connect disconnect query bulk_insert_init bulk_insert_next bulk_insert_done prepare bind_param'
           .. ' bind_result execute store_results free_results close'
         for name in db:gmatch('%S+') do assert(sysbench.db[name] == _G['db_' .. name] and _G['db_' .. name], name) end
         print(sysbench.db.DB_ERROR_FAILED, DB_ERROR_FAILED, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_NONE)",
    );
    let functions = |count| ["function"].repeat(count).join("\t");
    assert_eq!(
        lines,
        [
            "string\tstring\tnumber\ttable\ttable\ttable\ttable\ttable\ttable\ttable\ttable",
            &functions(3),
            "0\t1\tfunction",
            "table\tfunction\tstring\tfunction\tfunction\tfunction\tfunction\tstring\tboolean",
            &functions(9),
            "2\t2\t1\t0",
        ]
    );
}

/// Some published scripts have their own loop, which runs the events of each group of threads at the group's own pace.
#[test]
fn a_loop_of_the_script_s_own_keeps_its_own_time() {
    let mut bench = Bench::new(
        "ffi.cdef[[
           typedef struct timeval { long tv_sec; long tv_usec; } timeval;
           int gettimeofday(struct timeval* t, void* zone);
           bool sb_more_events(int thread_id);
           double sb_rand_uniform_double(void);
           int usleep(unsigned int us);
         ]]
         local now = ffi.new('struct timeval')
         function thread_run(tid)
           while ffi.C.sb_more_events(tid) do
             ffi.C.sb_event_start(tid)
             local done, stop = pcall(groups[tid + 1], tid)
             ffi.C.sb_event_stop(tid)
             ffi.C.gettimeofday(now, nil)
             assert(tonumber(now.tv_sec) > 1e9 and ffi.C.sb_rand_uniform_double() < 1)
             ffi.C.usleep(10.75)
           end
         end
         function thread_init() groups = { function() print('first') end, function() print('second') end } end
         function event() end",
    );
    let task = bench.spawn(1);
    bench.run(task, Entry::ThreadInit).unwrap();
    bench.host.replies.push_back(Reply::Continue(true));
    bench.run(task, Entry::ThreadRun).unwrap();
    assert_eq!(bench.host.printed, ["second"]);
    assert_eq!(bench.host.asked, ["NextEvent", "Sleep { us: 10 }", "NextEvent"]);
    assert_eq!(bench.host.counted, [(Counter::Event, 1)]);
}

/// If a script names a command's function before it defines the function, the command has no function and is not
/// declared.
#[test]
fn a_command_without_a_function_is_not_declared() {
    let bench = Bench::new("sysbench.cmdline.commands = { move = { cmd_move } } function cmd_move() end");
    assert_eq!(bench.runtime.info().commands, []);
}

#[test]
fn scripts_may_go_through_their_options_and_change_them() {
    let lines = printed(
        "local names = {}
         for name in pairs(sysbench.opt) do names[#names + 1] = name end
         print(#names > 40)
         sysbench.opt.threads = 3
         sysbench.opt.mine = 'set'
         print(sysbench.opt.threads, sysbench.opt.mine)
         for k, v in pairs(sysbench.sql.error) do assert(type(k) == 'string' and type(v) == 'number') end",
    );
    assert_eq!(lines, ["true", "3\tset"]);
}

#[test]
fn globals_may_have_a_metatable_of_the_script_s_own() {
    let lines = printed(
        "local mt = getmetatable(_G)
         print(mt)
         mt = {}
         setmetatable(_G, mt)
         mt.__index = function(_, name) error(name .. ' is not declared', 2) end
         mt.__newindex = function(globals, name, value) rawset(globals, name, value * 2) end
         number = 4
         print(number, math.floor(2.5), type(db_query), getmetatable(_G) == mt)
         print(pcall(function() return missing end))
         setmetatable(_G, nil)
         print(missing, getmetatable(_G), type(print))",
    );
    assert_eq!(
        lines,
        ["nil", "8\t2\tfunction\ttrue", "false\ttest.lua:10: missing is not declared", "nil\tnil\tfunction"]
    );
}

/// Some scripts find their statements in files, through a command that prints them.
#[test]
fn a_thread_may_read_what_a_command_prints() {
    let mut bench = Bench::new(
        "local statements = {}
         function thread_init()
           local pipe = io.popen('printf \"SELECT 1\\\\nSELECT 2\\\\n\"')
           for line in pipe:lines() do statements[#statements + 1] = line end
           pipe:close()
           assert(os.execute('true') == 0)
         end
         function event() for _, statement in ipairs(statements) do db_query(statement) end end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::ThreadInit).unwrap();
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.asked, ["Connect", "query 0: SELECT 1", "query 0: SELECT 2"]);
}

/// In benchmarks of bulk loads, an event adds one row.
#[test]
fn a_bulk_insert_may_span_events() {
    for (interface, connection) in [("db_", ""), ("con:", "con = sysbench.sql.driver():connect()")] {
        let mut bench = Bench::new(&format!(
            "size = 0
             function thread_init() {connection} end
             function event(tid)
               if size == 0 then {interface}bulk_insert_init('INSERT INTO t' .. tid .. ' VALUES') end
               size = size + 1
               {interface}bulk_insert_next('(' .. size .. ')')
             end
             function thread_done() {interface}bulk_insert_done() end"
        ));
        let task = bench.spawn(4);
        for entry in [Entry::ThreadInit, Entry::Event, Entry::Event, Entry::Event, Entry::ThreadDone] {
            bench.run(task, entry).unwrap();
        }
        assert_eq!(
            bench.host.asked,
            ["Connect", "query 0: INSERT INTO t4 VALUES (1),(2),(3)"],
            "{interface}"
        );
    }
}
