//! Measures how late a system's replicas are while its load runs. Numbered tokens are committed on the primary. The
//! lag of a token on a replica is the time from the end of the token's commit until the replica shows it.

mod alone;
mod reader;
mod writer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use dyno_engine::Topology;
use dyno_store::ReplicaRecord;

pub use self::alone::{ReplicaLag, TokenLag, measure_lag};
use crate::run::system::RunningSystem;
use crate::run::trial::planned::{LOAD_PATIENCE, PlannedTrial};
use crate::run::trial::watch::TrialAbort;

/// Longest wait until flags are checked again.
const GLANCE: Duration = Duration::from_millis(50);
/// Time limit for a server's answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// Measures the lag of a system's replicas in a trial. One thread writes tokens, and one thread per replica reads
/// them.
pub(in crate::run::trial) struct LagProbe<'a> {
    topology: Topology,
    stop: &'a AtomicBool,
    /// Time limit for the replicas to catch up after the load.
    patience: Duration,
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// What the threads have found so far.
#[derive(Default)]
struct Progress {
    began: Option<Instant>,
    ended: Option<Instant>,
    is_aborted: bool,
    /// All tokens, in order.
    tokens: Vec<Token>,
    /// Why a replica does not follow its primary; `None` if all follow.
    failure: Option<String>,
    /// For each replica whose thread has ended, its record and the lags of its tokens in ms, in order.
    records: Vec<(ReplicaRecord, Vec<f64>)>,
}

/// A token that was committed.
#[derive(Clone, Copy)]
struct Token {
    number: u64,
    committed: Instant,
}

impl<'a> LagProbe<'a> {
    /// Prepares the measurement of a system's replicas. Returns `None` for a system without replicas.
    pub(in crate::run::trial) fn of(trial: &PlannedTrial<'a>, system: &dyn RunningSystem) -> Option<Self> {
        let patience = trial.options.patience * LOAD_PATIENCE;
        Some(Self::new(system.topology()?, trial.options.stop, patience))
    }

    fn new(topology: Topology, stop: &'a AtomicBool, patience: Duration) -> Self {
        Self { topology, stop, patience, progress: Mutex::default(), changed: Condvar::new() }
    }

    /// Starts the threads. The threads wait for [`begin`](Self::begin).
    pub(in crate::run::trial) fn start<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) {
        scope.spawn(move || self.write());
        for place in 0..self.topology.replicas.len() {
            scope.spawn(move || self.read(place));
        }
    }

    /// Begins to measure.
    pub(in crate::run::trial) fn begin(&self, at: Instant) {
        self.progress().began = Some(at);
        self.changed.notify_all();
    }

    /// Ends the measurement. The threads end when the replicas have all tokens, or at once if the trial was
    /// aborted.
    pub(in crate::run::trial) fn end(&self, is_aborted: bool) {
        let mut progress = self.progress();
        progress.is_aborted = is_aborted;
        progress.ended = Some(Instant::now());
        drop(progress);
        self.changed.notify_all();
    }

    /// Returns an error if a replica does not follow its primary.
    pub(in crate::run::trial) fn check(&self) -> Result<(), TrialAbort> {
        let failure = self.progress().failure.clone();
        failure.map_or(Ok(()), |reason| Err(TrialAbort::failed(reason)))
    }

    /// Returns an error if the primary has given up waiting for its replicas.
    pub(in crate::run::trial) fn check_mode(&self) -> Result<(), TrialAbort> {
        self.topology.check_mode().map_err(|error| TrialAbort::failed(error.to_string()))
    }

    /// Returns the records of the replicas, in order.
    pub(in crate::run::trial) fn into_records(self) -> Vec<ReplicaRecord> {
        let found = self.progress.into_inner().unwrap_or_else(PoisonError::into_inner).records;
        let mut records: Vec<ReplicaRecord> = found.into_iter().map(|(record, _)| record).collect();
        records.sort_by_key(|record| record.number);
        records
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, but no longer than `limit`.
    fn wait(&self, limit: Duration) {
        drop(self.changed.wait_timeout(self.progress(), limit).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until there is a token that a replica has not shown, or until the measurement ends, but no longer than
    /// [`GLANCE`].
    fn wait_for_token(&self, shown: usize) {
        let is_idle = |progress: &mut Progress| progress.tokens.len() <= shown && progress.ended.is_none();
        let waited = self.changed.wait_timeout_while(self.progress(), GLANCE, is_idle);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until measuring begins. Returns `None` if the trial ends first.
    fn wait_to_begin(&self) -> Option<Instant> {
        loop {
            let (began, ended) = {
                let progress = self.progress();
                (progress.began, progress.ended)
            };
            match (began, ended) {
                (Some(began), _) => return Some(began),
                (None, Some(_)) => return None,
                (None, None) => self.wait(GLANCE),
            }
        }
    }

    fn ended(&self) -> Option<Instant> {
        self.progress().ended
    }

    /// Whether the threads must give up.
    fn is_over(&self) -> bool {
        let progress = self.progress();
        progress.is_aborted || progress.failure.is_some() || self.stop.load(Ordering::Relaxed)
    }

    fn fail(&self, reason: String) {
        self.progress().failure.get_or_insert(reason);
        self.changed.notify_all();
    }
}
