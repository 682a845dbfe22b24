//! Measures the cost of scripts: CPU time per event, and memory per task. The host answers at once and does
//! nothing.
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

/// Numbers of tasks that take turns.
const TASKS: [u32; 3] = [1, 64, 1000];

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

/// A task between two of its requests.
struct Waiting {
    task: TaskId,
    /// The answer with which the task is resumed; `None` before its first event.
    reply: Option<Reply>,
}

impl Waiting {
    /// Runs the task up to its next request. If an event ends before that, starts the next event. Returns the
    /// number of events that ended.
    fn step(&mut self, runtime: &mut Runtime) -> u64 {
        let mut ended = 0;
        let mut reply = self.reply.take();
        loop {
            if reply.is_none() {
                assert!(runtime.start(self.task, Entry::Event).expect("a function"));
            }
            match runtime.resume(self.task, &mut Idle, reply.take().unwrap_or(Reply::Done)).expect("no error")
            {
                Progress::Waiting(request) => {
                    self.reply = Some(answer(&request));
                    return ended;
                }
                // A script that makes no requests would never return, so the step ends here.
                _ if ended > 0 => return ended + 1,
                _ => ended += 1,
            }
        }
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
        marks_functions: false,
    })
    .expect("a script")
}

/// CPU time of this thread. Other programs on the machine do not change it.
fn cpu_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    schedstat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// CPU time of one event, in ns. After each request, the next of the `count` tasks runs, as in an event loop. Returns
/// the least of several measurements.
fn event_ns(source: &str, count: u32) -> f64 {
    let mut runtime = runtime(source);
    let mut tasks: Vec<Waiting> = (0..count)
        .map(|tid| {
            let task = runtime.spawn(tid).expect("a task");
            run(&mut runtime, task, Entry::ThreadInit);
            Waiting { task, reply: None }
        })
        .collect();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (start_ns, mut events) = (cpu_ns(), 0);
        while events < 500_000 {
            events += tasks.iter_mut().map(|task| task.step(&mut runtime)).sum::<u64>();
        }
        best = best.min((cpu_ns() - start_ns) as f64 / events as f64);
    }
    best
}

fn main() {
    for (name, source) in SCRIPTS {
        for count in TASKS {
            println!("{:8.0} ns of CPU an event, {count:4} tasks in turn: {name}", event_ns(source, count));
        }
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
