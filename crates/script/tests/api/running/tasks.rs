//! Several tasks in one runtime.

use dyno_script::{Entry, Progress, Reply, Runtime};

use crate::support::{Answers, Bench, config};

#[test]
fn globals_options_hooks_and_modules_are_each_task_s_own() {
    let mut config = config(
        "counter = 0
         local module = require('shared')
         function event()
           counter = counter + 1
           module.n = (module.n or 0) + 1
           sysbench.opt.threads = sysbench.opt.threads + 1
           sysbench.hooks.mine = (sysbench.hooks.mine or 0) + 1
           sysbench.rand.mine = (sysbench.rand.mine or 0) + 1
           package.loaded.mine = (package.loaded.mine or 0) + 1
           _G.direct = (direct or 0) + 1
           loadstring('loaded = (loaded or 0) + 1')()
           in_module()
           print(counter, module.n, sysbench.opt.threads, sysbench.hooks.mine, sysbench.rand.mine,
             package.loaded.mine, direct, loaded, from_module, getfenv(0) == _G)
         end",
    );
    config.builtin = |name| {
        (name == "shared")
            .then_some("function in_module() from_module = (from_module or 0) + 1 end return {}")
    };
    let mut bench = Bench::with(config);
    let tasks = [bench.spawn(0), bench.spawn(1)];
    for task in [tasks[0], tasks[0], tasks[1]] {
        bench.run(task, Entry::Event).unwrap();
    }
    let once = "1\t1\t2\t1\t1\t1\t1\t1\t1\ttrue";
    assert_eq!(bench.host.printed, [once, "2\t2\t3\t2\t2\t2\t2\t2\t2\ttrue", once]);
}

#[test]
fn tasks_that_wait_keep_their_places() {
    let mut bench = Bench::new(
        "function event(tid)
           local con = sysbench.sql.driver():connect()
           for n = 1, 2 do con:query('SELECT ' .. tid .. ' ' .. n) end
         end",
    );
    let tasks = [bench.spawn(0), bench.spawn(1)];
    let mut asked = Vec::new();
    for task in tasks {
        assert!(bench.runtime.start(task, Entry::Event).unwrap());
    }
    let replies = [Reply::Done, Reply::Connected(0), Reply::Result { has_rows: true }];
    for reply in replies {
        for task in tasks {
            match bench.runtime.resume(task, &mut bench.host, reply.clone()).unwrap() {
                Progress::Waiting(request) => asked.push(format!("{request:?}")),
                other => panic!("{other:?}"),
            }
        }
    }
    let sql = |text: &str| format!("Query {{ connection: 0, sql: {:?} }}", text.as_bytes());
    assert_eq!(asked[2..], [sql("SELECT 0 1"), sql("SELECT 1 1"), sql("SELECT 0 2"), sql("SELECT 1 2")]);
}

#[test]
fn a_task_that_waits_can_be_sent_elsewhere() {
    let mut bench = Bench::new(
        "function event() sysbench.sql.driver():connect() print('never') end
         function thread_done() print('done') end",
    );
    let task = bench.spawn(0);
    assert!(bench.runtime.start(task, Entry::Event).unwrap());
    assert!(matches!(bench.runtime.resume(task, &mut bench.host, Reply::Done), Ok(Progress::Waiting(_))));
    bench.run(task, Entry::ThreadDone).unwrap();
    assert_eq!(bench.host.printed, ["done"]);
}

#[test]
fn what_the_top_level_prints_is_heard_once_a_task() {
    let mut bench = Bench::new("print('top', sysbench.tid) function event() end");
    for tid in 0..2 {
        let task = bench.spawn(tid);
        bench.run(task, Entry::Event).unwrap();
    }
    assert_eq!(bench.host.printed, ["top\t0", "top\t1"]);
}

/// C declarations and metatypes belong to the whole Lua state, and the top level of every task declares them.
#[test]
fn every_task_may_declare_the_same_c_types() {
    let mut bench = Bench::new(
        "ffi.cdef('typedef struct { int x; } test_point;')
         local Point = ffi.metatype('test_point', { __index = { twice = function(p) return p.x * 2 end } })
         function event() print(Point(4):twice()) end",
    );
    for tid in 0..2 {
        let task = bench.spawn(tid);
        bench.run(task, Entry::Event).unwrap();
    }
    assert_eq!(bench.host.printed, ["8", "8"]);
}

/// A task's values in Lua are its globals, its coroutine, its connection and its statement.
#[test]
fn a_thousand_tasks_are_small() {
    let mut bench = Bench::new(
        "sysbench.cmdline.options = { tables = { 'tables', 1 }, table_size = { 'rows', 10000 } }
         function thread_init()
           con = sysbench.sql.driver():connect()
           stmt = con:prepare('SELECT c FROM sbtest1 WHERE id = ?')
           id = stmt:bind_create(sysbench.sql.type.INT)
           stmt:bind_param(id)
         end
         function event()
           id:set(sysbench.rand.default(1, sysbench.opt.table_size))
           stmt:execute()
         end",
    );
    bench.runtime.collect_garbage();
    let before = bench.runtime.memory_bytes();
    for tid in 0..1000 {
        let task = bench.spawn(tid);
        bench.run(task, Entry::ThreadInit).unwrap();
        bench.run(task, Entry::Event).unwrap();
    }
    bench.runtime.collect_garbage();
    let bytes = (bench.runtime.memory_bytes() - before) / 1000;
    assert!(bytes < 10_000, "{bytes} bytes a task");
}

/// After some events, an event leaves no garbage in Lua except the values that the script itself creates.
#[test]
fn a_prepared_event_makes_no_garbage() {
    let mut bench = Bench::new(
        "function thread_init()
           con = sysbench.sql.driver():connect()
           stmt = con:prepare('SELECT c FROM sbtest1 WHERE id = ?')
           id = stmt:bind_create(sysbench.sql.type.INT)
           stmt:bind_param(id)
           collectgarbage()
           collectgarbage('stop')
         end
         function event()
           id:set(sysbench.rand.uniform(1, 1000))
           stmt:execute()
         end",
    );
    let task = bench.spawn(0);
    bench.run(task, Entry::ThreadInit).unwrap();
    let events = |bench: &mut Bench, n| {
        for _ in 0..n {
            bench.run(task, Entry::Event).unwrap();
        }
        bench.runtime.memory_bytes()
    };
    let before = events(&mut bench, 1000);
    assert_eq!(events(&mut bench, 1000), before);
}

#[test]
fn a_top_level_that_connects_is_answered_at_once_and_its_connection_stays() {
    let source = "con = sysbench.sql.driver():connect()
        print('loaded', con:query_row('SELECT 1'))
        function event() con:query('SELECT 2') end";
    let mut host = Answers::default();
    host.rows.push_back(vec![Some("one")]);
    let mut runtime = Runtime::connected(config(source), &mut host).unwrap();
    assert!(runtime.info().connects_at_load);
    assert_eq!(runtime.printed(), ["loaded\tone"]);
    host.rows.push_back(vec![Some("two")]);
    let task = runtime.spawn_connected(0, &mut host).unwrap();
    let mut bench = Bench { runtime, host };
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(
        bench.host.asked,
        ["Connect", "query 0: SELECT 1", "Connect", "query 1: SELECT 1", "query 1: SELECT 2"]
    );
    assert_eq!(bench.host.printed, ["loaded\ttwo"]);
    let other = Bench::new("function event() end");
    assert!(!other.runtime.info().connects_at_load);
}

#[test]
fn a_script_whose_declarations_are_known_is_not_run_to_read_them() {
    let source = "print('top level') sysbench.cmdline.options = { n = { 'a number', 5 } }
        function event() print(sysbench.opt.n) end";
    let info = Bench::new(source).runtime.info().clone();
    let runtime = Runtime::declared(&config(source), info).unwrap();
    let mut bench = Bench { runtime, host: Answers::default() };
    let task = bench.spawn(0);
    bench.run(task, Entry::Event).unwrap();
    assert_eq!(bench.host.printed, ["top level", "5"]);
}
