//! Measures the lag of replicas in the same way as a trial, but outside a trial. A benchmark uses it, and compares
//! the measured lags with known lags.

use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Topology;
use dyno_store::ReplicaRecord;

use super::{LagProbe, Progress, Token};

/// What was measured on one replica.
#[derive(Clone, Debug)]
pub struct ReplicaLag {
    /// The record of the replica, as a trial would have it.
    pub record: ReplicaRecord,
    /// The tokens that the replica has shown, in order.
    pub tokens: Vec<TokenLag>,
}

/// A token that a replica has shown.
#[derive(Clone, Copy, Debug)]
pub struct TokenLag {
    /// When the token's commit on the primary ended.
    pub committed: Instant,
    /// Time from the end of the commit until the replica showed the token, in ms.
    pub lag_ms: f64,
}

/// Measures the lag of replicas while `during` runs, in the way that a trial does. Afterwards waits, for at most
/// `patience`, until the replicas have all tokens.
///
/// # Errors
/// A replica does not follow its primary. The error is a text for the user.
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
    /// Returns the replicas in order, with their tokens. Returns an error if a replica does not follow its primary.
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
