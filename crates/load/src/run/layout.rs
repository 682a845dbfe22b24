//! Divides the connections of a job among threads and event loops.

use std::sync::Arc;

use dyno_script::ScriptInfo;

use crate::measure::recorder::Recorder;
use crate::protocol::job::Scheduler;
use crate::worker::{Assignment, Shared};

/// A command such as `prepare` gets a thread for each connection, up to this number. Such a command generates its
/// data in Lua. On an event loop, one busy script would hold up all others. With threads, the kernel shares the
/// cores between the scripts and the server.
const COMMAND_THREADS_MAX: u32 = 64;
/// Number of connections per event loop, if there are enough cores.
const LOOP_CONNECTIONS: u32 = 64;

/// The threads that run the connections.
pub(super) struct WorkerLayout {
    pub(super) workers: Vec<Assignment>,
    pub(super) event_loops: bool,
    /// Whether the job runs events. Other jobs run a command, such as `prepare`.
    pub(super) events: bool,
    /// Whether the script has `init` or `done`, which run only with events.
    pub(super) hooks: bool,
}

impl WorkerLayout {
    pub(super) fn of(shared: &Shared, info: &ScriptInfo) -> Self {
        let job = &shared.job;
        let connections = if shared.runs_alone() { 1 } else { job.connections.max(1) };
        let event_loops = match job.scheduler {
            Scheduler::Thread => false,
            Scheduler::Auto if !shared.runs_events() && connections <= COMMAND_THREADS_MAX => false,
            Scheduler::Auto | Scheduler::Event => !job.needs_threads() && !info.connects_at_load,
        };
        let workers = if event_loops {
            loops_for(cores(), connections, shared.runs_events(), job.loops)
        } else {
            connections
        };
        let shared_recorder = Arc::new(Recorder::default());
        let bound = |worker: u32| (u64::from(connections) * u64::from(worker) / u64::from(workers)) as u32;
        let workers = (0..workers)
            .map(|worker| Assignment {
                tids: bound(worker)..bound(worker + 1),
                recorder: if event_loops { Arc::default() } else { Arc::clone(&shared_recorder) },
                busy_since_ns: Arc::default(),
            })
            .collect();
        let events = shared.runs_events();
        Self { workers, event_loops, events, hooks: events && info.hooks }
    }

    pub(super) fn recorders(&self) -> Vec<Arc<Recorder>> {
        let mut recorders: Vec<Arc<Recorder>> = Vec::new();
        for worker in &self.workers {
            if !recorders.iter().any(|known| Arc::ptr_eq(known, &worker.recorder)) {
                recorders.push(Arc::clone(&worker.recorder));
            }
        }
        recorders
    }
}

/// Number of event loops. One event loop carries more queries than a server core answers, so half of the cores are
/// enough, and the server has the other half. But the kernel runs a woken thread near the thread that woke it. If a
/// loop has many connections, other cores are idle while threads queue for the loop's own core. With many connections,
/// there is therefore a loop for each core (`bench/` has the figures). A command such as `prepare` generates data in
/// Lua, and may use all cores.
fn loops_for(cores: u32, connections: u32, runs_events: bool, wanted: Option<u32>) -> u32 {
    let least = if runs_events { (cores / 2).max(1) } else { cores };
    wanted.unwrap_or((connections / LOOP_CONNECTIONS).clamp(least, cores)).clamp(1, connections)
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_cores_have_a_loop_until_connections_are_many() {
        let events = |cores, connections| loops_for(cores, connections, true, None);
        assert_eq!([1, 8, 64, 127, 128, 2000].map(|connections| events(2, connections)), [1, 1, 1, 1, 2, 2]);
        assert_eq!([3, 64, 512, 576, 9000].map(|connections| events(16, connections)), [3, 8, 8, 9, 16]);
        assert_eq!(events(1, 1000), 1);
        assert_eq!((loops_for(4, 100, false, None), loops_for(4, 2, false, None)), (4, 2));
        assert_eq!((loops_for(2, 8, true, Some(5)), loops_for(2, 8, true, Some(99))), (5, 8));
    }
}
