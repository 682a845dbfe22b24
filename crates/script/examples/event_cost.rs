//! Cost of scripts: CPU time per event, and memory per task, with a host that answers at once and does nothing.
//!
//! `cargo run --release -p dyno-script --example event_cost`

use std::collections::BTreeMap;
use std::hint::black_box;

use dyno_script::{Config, ConnectionId, Counter, Entry, Host, Progress, Reply, Request, Runtime, TaskId};

const SCRIPTS: [(&str, &str); 4] = [
    ("nothing", "function event() end"),
    ("a prepared statement, one parameter", PREPARED),
    ("a text query", TEXT),
    ("twelve text queries and four prepared ones", MIXED),
];

const PREPARED: &str = r#"
function thread_init()
    con = sysbench.sql.driver():connect()
    stmt = con:prepare("SELECT c FROM sbtest1 WHERE id = ?")
    param = stmt:bind_create(sysbench.sql.type.INT)
    stmt:bind_param(param)
end
function event()
    param:set(sysbench.rand.default(1, 100000))
    stmt:execute()
end
"#;

const TEXT: &str = r#"
function thread_init() con = sysbench.sql.driver():connect() end
function event()
    con:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", 1, sysbench.rand.default(1, 100000)))
end
"#;

const MIXED: &str = r#"
function thread_init()
    con = sysbench.sql.driver():connect()
    stmt = con:prepare("UPDATE sbtest1 SET c = ? WHERE id = ?")
    c = stmt:bind_create(sysbench.sql.type.CHAR, 120)
    id = stmt:bind_create(sysbench.sql.type.INT)
    stmt:bind_param(c, id)
end
function event()
    for i = 1, 12 do
        con:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", i, sysbench.rand.default(1, 100000)))
    end
    for i = 1, 4 do
        c:set_rand_str(("@"):rep(59))
        id:set(sysbench.rand.default(1, 100000))
        stmt:execute()
    end
end
"#;

struct Idle;

impl Host for Idle {
    fn row_count(&mut self, _: ConnectionId) -> u64 {
        1
    }
    fn field_count(&mut self, _: ConnectionId) -> u32 {
        1
    }
    fn field_names(&mut self, _: ConnectionId) -> Vec<String> {
        Vec::new()
    }
    fn next_row(&mut self, _: ConnectionId, _: &mut Vec<Option<Vec<u8>>>) -> bool {
        false
    }
    fn more_results(&mut self, _: ConnectionId) -> bool {
        false
    }
    fn count(&mut self, _: Counter, _: u64) {}
    fn print(&mut self, line: &str) {
        println!("{line}");
    }
    fn exit(&mut self, status: i32) {
        std::process::exit(status);
    }
    fn call(&mut self, request: Request<'_>) -> Reply {
        answer(&request)
    }
}

fn answer(request: &Request<'_>) -> Reply {
    match black_box(request) {
        Request::Connect => Reply::Connected(0),
        Request::Prepare { .. } => Reply::Prepared(0),
        Request::Query { .. } | Request::Execute { .. } => Reply::Result { has_rows: true },
        _ => Reply::Done,
    }
}

fn run(runtime: &mut Runtime, task: TaskId, entry: Entry<'_>) {
    let mut reply = Reply::Done;
    if !runtime.start(task, entry).expect("a function") {
        return;
    }
    while let Progress::Waiting(request) = runtime.resume(task, &mut Idle, reply).expect("no error") {
        reply = answer(&request);
    }
}

fn runtime(source: &str) -> Runtime {
    Runtime::new(Config {
        name: "cost.lua".into(),
        source: source.into(),
        search_path: Vec::new(),
        builtin: |_| None,
        arguments: Vec::new(),
        options: BTreeMap::new(),
        globals: BTreeMap::new(),
        sysbench_version: "1.0.20".into(),
        driver: "mysql".into(),
        command: "run".into(),
        threads: 1,
        seed: 1,
        unique: dyno_script::UniqueCounters::default(),
        memory: dyno_script::MemoryLimit::new(256 << 20),
        blocking: false,
    })
    .expect("a script")
}

/// CPU time of this thread. Other programs on the machine do not change it.
fn cpu_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    schedstat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn main() {
    for (name, source) in SCRIPTS {
        let mut runtime = runtime(source);
        let task = runtime.spawn(0).expect("a task");
        run(&mut runtime, task, Entry::ThreadInit);
        let events = 1_000_000;
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start_ns = cpu_ns();
            for _ in 0..events {
                run(&mut runtime, task, Entry::Event);
            }
            best = best.min((cpu_ns() - start_ns) as f64 / f64::from(events));
        }
        println!("{best:8.0} ns of CPU an event: {name}");
    }
    let mut runtime = runtime(PREPARED);
    runtime.collect_garbage();
    let before = runtime.memory_bytes();
    for tid in 0..1000 {
        let task = runtime.spawn(tid).expect("a task");
        run(&mut runtime, task, Entry::ThreadInit);
        run(&mut runtime, task, Entry::Event);
    }
    runtime.collect_garbage();
    println!("{:8} bytes a task", (runtime.memory_bytes() - before) / 1000);
}
