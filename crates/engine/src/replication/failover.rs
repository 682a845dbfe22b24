//! Failover: a replica takes the place of a primary that is gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Replicating, ReplicationError, Topology};

/// Time between two checks of a replica that applies what it has received.
const POLL: Duration = Duration::from_millis(5);
/// Time limit of an answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
/// Time limit of each statement of a promotion. If MySQL has received only a part of a transaction, it waits up to 60 s
/// for the rest before it stops applying.
const PROMOTION_PATIENCE: Duration = Duration::from_secs(180);
/// A replica that has applied nothing for this time has applied all whole transactions that it received.
const AT_REST: Duration = Duration::from_secs(2);

/// How much of the primary's log a replica has received and applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Position in the primary's log up to which the replica has received events. A later position is larger.
    pub(crate) received: (u64, u64),
    /// Position in the primary's log up to which the replica has applied events.
    pub(crate) applied: (u64, u64),
}

impl Topology {
    /// Stops the replicas from receiving anything more, as if the network to their primary were cut.
    ///
    /// # Errors
    /// A server refuses a statement.
    pub fn cut_off(&self) -> Result<(), ReplicationError> {
        let Some(steps) = self.steps() else { return Ok(()) };
        if steps.is_primary_cut_off() {
            let cut = self.connect_primary(ANSWER_PATIENCE).and_then(|mut client| steps.cut_off(&mut client));
            return cut.map_err(ReplicationError::Primary);
        }
        for place in 0..self.replicas.len() {
            let refused = |source| ReplicationError::Replica { number: place as u32 + 1, source };
            let mut client = self.connect_replica(place, ANSWER_PATIENCE).map_err(refused)?;
            steps.cut_off(&mut client).map_err(refused)?;
        }
        Ok(())
    }

    /// Promotes the replica that has received most to be the primary, after it has applied everything that it received.
    /// Returns its index in [`replicas`](Self::replicas).
    ///
    /// # Errors
    /// A replica refuses a statement, or has not applied everything within `patience`, or `stop` is set.
    pub fn fail_over(&self, patience: Duration, stop: &AtomicBool) -> Result<usize, ReplicationError> {
        let steps = self.steps().ok_or(ReplicationError::NoReplica)?;
        let mut furthest: Option<((u64, u64), usize)> = None;
        for place in 0..self.replicas.len() {
            let received = self.progress_of(steps, place)?.received;
            if furthest.is_none_or(|(most, _)| received > most) {
                furthest = Some((received, place));
            }
        }
        let (_, place) = furthest.ok_or(ReplicationError::NoReplica)?;
        self.await_applied(steps, place, patience, stop)?;
        let refused = |source| ReplicationError::Replica { number: place as u32 + 1, source };
        let mut client = self.connect_replica(place, PROMOTION_PATIENCE).map_err(refused)?;
        steps.promote(&mut client, &self.replication).map_err(refused)?;
        Ok(place)
    }

    fn progress_of(&self, steps: &dyn Replicating, place: usize) -> Result<Progress, ReplicationError> {
        let progress =
            self.connect_replica(place, ANSWER_PATIENCE).and_then(|mut it| steps.progress(&mut it));
        progress.map_err(|source| ReplicationError::Replica { number: place as u32 + 1, source })
    }

    /// Waits until a replica has applied what it received. The end of a log may be only a part of a transaction,
    /// which the replica never applies.
    fn await_applied(
        &self,
        steps: &dyn Replicating,
        place: usize,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(), ReplicationError> {
        let began = Instant::now();
        let mut last = (self.progress_of(steps, place)?, Instant::now());
        while last.0.applied < last.0.received && last.1.elapsed() < AT_REST {
            if stop.load(Ordering::Relaxed) {
                return Err(ReplicationError::Interrupted);
            }
            if began.elapsed() > patience {
                let behind = "still applying what it received".to_owned();
                return Err(ReplicationError::Late {
                    number: place as u32 + 1,
                    seconds: patience.as_secs(),
                    behind,
                });
            }
            thread::sleep(POLL);
            let now = self.progress_of(steps, place)?;
            if now != last.0 {
                last = (now, Instant::now());
            }
        }
        Ok(())
    }
}
