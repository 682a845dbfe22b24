//! Measures the lag of replicas without a trial, in the same way. A benchmark compares it with lags that it knows.

use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Topology;
use dyno_store::ReplicaRecord;

use super::{LagProbe, Progress, Token};

/// What was measured of a replica.
#[derive(Clone, Debug)]
pub struct ReplicaLag {
    /// As a trial records it.
    pub record: ReplicaRecord,
    /// Its tokens, in order.
    pub tokens: Vec<TokenLag>,
}

/// A token that a replica has shown.
#[derive(Clone, Copy, Debug)]
pub struct TokenLag {
    /// End of its commit on the primary.
    pub committed: Instant,
    /// Time from then until the replica showed it, in ms.
    pub lag_ms: f64,
}

/// Measures the lag of replicas as a trial does, while `during` runs. Afterwards it waits until the replicas have all
/// tokens, for at most `patience`.
///
/// # Errors
/// A replica does not follow. The reason is in words.
pub fn measure_lag<T>(
    topology: Topology,
    patience: Duration,
    during: impl FnOnce() -> T,
) -> Result<(T, Vec<ReplicaLag>), String> {
    let stop = AtomicBool::new(false);
    let probe = LagProbe::new(topology, &stop, patience);
    let done = thread::scope(|scope| {
        probe.start(scope);
        probe.begin(Instant::now());
        let done = during();
        probe.end(false);
        done
    });
    Ok((done, probe.into_lags()?))
}

impl LagProbe<'_> {
    /// The replicas with their tokens, in order, or why one of them does not follow.
    fn into_lags(self) -> Result<Vec<ReplicaLag>, String> {
        let progress = self.progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Progress { tokens, failure, mut records, .. } = progress;
        if let Some(reason) = failure {
            return Err(reason);
        }
        records.sort_by_key(|(record, _)| record.number);
        let of = |(record, lags_ms): (ReplicaRecord, Vec<f64>)| {
            let lag = |(token, lag_ms): (&Token, f64)| TokenLag { committed: token.committed, lag_ms };
            ReplicaLag { record, tokens: tokens.iter().zip(lags_ms).map(lag).collect() }
        };
        Ok(records.into_iter().map(of).collect())
    }
}
