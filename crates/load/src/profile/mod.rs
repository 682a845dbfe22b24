//! Measures how many CPU cycles a query costs the client in each stage. An event loop runs against a server that sends
//! canned answers. Marks in the loop's code read the processor's cycle counter when a stage begins.
//!
//! With answers from memory, no server and no kernel take part, so the figures are repeatable.

#[cfg(test)]
mod apart;
mod canned;
mod server;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use dyno_script::{Stage, Stamps, Tally};
use serde::{Deserialize, Serialize};

pub(crate) use self::canned::Canned;
pub use self::server::CannedServer;
use crate::io::{Io, Loopback};
use crate::measure::recorder::Interval;
use crate::protocol::job::{Address, Job};
use crate::schedule::control::{Control, Phase};
use crate::worker::{Assignment, EventLoop, Message, Shared};

/// Time between checks whether the loop has ended.
const POLL: Duration = Duration::from_millis(50);

/// Where a profile's answers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// The answers come from memory, without a system call.
    Memory,
    /// The answers come from a thread of this process, through the kernel.
    Socket,
}

/// What the stages of a load cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    pub queries: u64,
    pub stages: Vec<StageCycles>,
    /// Cycles that one mark itself takes. The cycles of a stage include one mark for each time that the stage was
    /// entered.
    pub mark_cycles: f64,
    /// Cycles of the processor's counter per second.
    pub cycles_a_second: f64,
}

/// The cycles of a stage, and how many times it was entered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageCycles {
    pub stage: String,
    /// Whether the client's own code runs in the stage. In the other stages, the kernel runs, or canned answers are
    /// chosen.
    pub is_own: bool,
    pub cycles: u64,
    pub entered: u64,
}

/// Runs a job's events on one event loop on this thread for the job's time. Returns the cycles of each stage. The
/// job must have one address, a unix socket that does not exist yet.
///
/// # Errors
/// The job fails, or the operating system refuses the socket.
pub fn profile(job: Job, answers: Answers) -> Result<Profile, String> {
    let length = crate::schedule::seconds(job.seconds.unwrap_or(1.0));
    let (shared, messages, _) = crate::run::prepare(job, &mut |_| {})?;
    let path = socket_of(&shared.job).ok_or("a profile needs the path of one unix socket")?;
    let told = |error: io::Error| error.to_string();
    crate::machine::open_files::raise_limit();
    let interval = match answers {
        Answers::Memory => {
            let _listener = server::listen(path).map_err(told)?;
            let io = Loopback::<Stamps>::new(shared.job.target.driver).map_err(told)?;
            run(&shared, messages, Box::new(io), length)
        }
        Answers::Socket => {
            let _server = CannedServer::start(shared.job.target.driver, path).map_err(told)?;
            let io = crate::io::open(shared.job.io, shared.job.connections as usize).map_err(told)?;
            run(&shared, messages, io, length)
        }
    }?;
    Ok(Profile {
        queries: interval.counts.queries(),
        stages: Stamps::recorded().into_iter().map(StageCycles::from).collect(),
        mark_cycles: Stamps::mark_cycles(),
        cycles_a_second: Stamps::cycles_a_second(),
    })
}

fn socket_of(job: &Job) -> Option<&Path> {
    match job.target.addresses.as_slice() {
        [Address::Unix(path)] => Some(path),
        _ => None,
    }
}

fn run(
    shared: &Shared,
    messages: Receiver<Message>,
    io: Box<dyn Io>,
    length: Duration,
) -> Result<Interval, String> {
    let recorder = Arc::default();
    let assignment = Assignment {
        tids: 0..shared.job.connections,
        recorder: Arc::clone(&recorder),
        busy_since_ns: Arc::default(),
    };
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        let (control, is_over) = (&shared.control, &is_over);
        scope.spawn(move || conduct(control, &messages, length, is_over));
        let outcome = EventLoop::<Stamps>::with_io(shared, assignment, io).and_then(EventLoop::run);
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    outcome.map_err(|error| error.to_string())?;
    let mut interval = Interval::default();
    recorder.take(&mut interval);
    Ok(interval)
}

/// Begins the load when its connections are open, and ends it after `length`.
fn conduct(control: &Control, messages: &Receiver<Message>, length: Duration, is_over: &AtomicBool) {
    loop {
        match messages.recv_timeout(POLL) {
            Ok(Message::Ready(_)) => break,
            _ if is_over.load(Ordering::Relaxed) => return,
            _ => {}
        }
    }
    control.advance(Phase::Running);
    let until = Instant::now() + length;
    while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
        thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
    }
    control.advance(Phase::Stopping);
}

impl From<(Stage, Tally)> for StageCycles {
    fn from((stage, tally): (Stage, Tally)) -> Self {
        let is_own = !matches!(stage, Stage::Wait | Stage::Peer);
        Self { stage: stage.name().to_owned(), is_own, cycles: tally.cycles, entered: tally.entered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::job::{Protocol, Script, Target};

    const SCRIPT: &str = r#"
function thread_init()
    con = sysbench.sql.driver():connect()
    stmt = con:prepare("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?")
    first, last = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.INT)
    stmt:bind_param(first, last)
end
function event()
    first:set(sysbench.rand.uniform(1, 10))
    last:set(20)
    local rows = 0
    local result = stmt:execute()
    while result:fetch_row() do rows = rows + 1 end
    assert(rows == 100 and result.nfields == 1, rows)
    assert(con:query_row("SELECT SUM(k) FROM sbtest1") == "2516789")
    con:query("UPDATE sbtest1 SET k = k + 1")
end
"#;

    /// Checks that a script gets the rows of its statements and that every stage is marked. It does so for both
    /// protocols, with answers from memory and through a socket.
    #[test]
    fn canned_answers_are_those_of_a_server() {
        for (number, driver, answers) in [
            (0, Protocol::Mysql, Answers::Memory),
            (1, Protocol::Pgsql, Answers::Memory),
            (2, Protocol::Mysql, Answers::Socket),
            (3, Protocol::Pgsql, Answers::Socket),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("{number}.sock"));
            let script = Script { name: "rows".into(), source: SCRIPT.into(), search_path: Vec::new() };
            let target = Target::new(driver, vec![Address::Unix(path)]);
            let job = Job { connections: 3, seconds: Some(0.5), ..Job::new(target, script, "run") };
            let profile =
                profile(job, answers).unwrap_or_else(|error| panic!("{driver:?} {answers:?}: {error}"));
            assert!(profile.queries >= 9, "{profile:?}");
            let idle = match answers {
                Answers::Memory => "",
                Answers::Socket => "canned answers",
            };
            for stage in profile.stages.iter().filter(|stage| stage.stage != idle) {
                assert!(stage.entered > 0 && stage.cycles > 0, "{driver:?} {answers:?}: {stage:?}");
            }
        }
    }
}
