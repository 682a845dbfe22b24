//! Server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>): the state of the current
//! run, sent in each second in which it changed.
//!
//! One thread reads the results file and writes to all listeners. It never waits for a listener.

mod listener;

use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dyno_store::{RunState, Store};
use serde::Serialize;

use self::listener::Listener;
use crate::live::{self, Live};
use crate::places::{Peer, oldest_of_most};

const PERIOD: Duration = Duration::from_secs(1);

/// The state that is sent to a listener.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Now {
    /// Id of the run in progress. `None` if no run is in progress.
    run: Option<i64>,
    /// Number of the run's trials in the results file.
    committed: u64,
    live: Option<Live>,
}

/// The current state. It is empty if no run is in progress, or if the file is missing or unreadable.
fn now(results: &Path) -> Now {
    let runs = Store::open_read_only(results).and_then(|store| store.runs()).unwrap_or_default();
    let Some(run) = runs.into_iter().rev().find(|run| run.state == RunState::Running) else {
        return Now::default();
    };
    Now {
        run: Some(run.id.0),
        committed: run.completed_trials + run.failed_trials,
        live: live::read(results),
    }
}

/// The current state as an event. The state is empty if reading the file panics.
fn event(results: &Path) -> Arc<str> {
    let now = catch_unwind(AssertUnwindSafe(|| now(results))).unwrap_or_default();
    format!("data: {}\n\n", serde_json::to_string(&now).unwrap_or_default()).into()
}

/// The listeners, oldest first.
pub(crate) struct Listeners {
    count_max: usize,
    list: Mutex<Vec<Listener>>,
    /// Notified when a listener arrives.
    has_come: Condvar,
}

impl Listeners {
    pub(crate) fn new(count_max: usize) -> Self {
        Self { count_max, list: Mutex::default(), has_come: Condvar::new() }
    }

    /// Adds a listener. If there are already as many listeners as allowed, an earlier listener is removed.
    pub(crate) fn add(&self, stream: TcpStream, peer: Peer) {
        let Ok(listener) = Listener::new(stream, peer) else { return };
        let mut list = self.list();
        while list.len() >= self.count_max {
            let peers: Vec<Peer> = list.iter().map(|listener| listener.peer).collect();
            let Some(oldest) = oldest_of_most(&peers, peer) else { break };
            list.remove(oldest);
        }
        list.push(listener);
        self.has_come.notify_one();
    }

    /// Sends the state to all listeners every second, and also when a listener arrives, until `stop` is set.
    pub(crate) fn tell(&self, results: &Path, stop: &AtomicBool) {
        let mut current: Option<(Instant, Arc<str>)> = None;
        while !stop.load(Ordering::Relaxed) {
            if self.list().is_empty() {
                self.wait();
                continue;
            }
            let state = match current.take() {
                Some((since, state)) if since.elapsed() < PERIOD => (since, state),
                _ => (Instant::now(), event(results)),
            };
            self.list().retain_mut(|listener| listener.hear(&state.1));
            current = Some(state);
            self.wait();
        }
    }

    /// Waits for a second, or until a listener arrives.
    fn wait(&self) {
        let nobody_is_new = |list: &mut Vec<Listener>| !list.iter().any(|listener| listener.is_new);
        drop(self.has_come.wait_timeout_while(self.list(), PERIOD, nobody_is_new));
    }

    fn list(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
