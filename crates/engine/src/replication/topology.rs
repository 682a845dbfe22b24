//! A primary with its replicas, as their clients see them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyno_client::{Client, ClientError};

use super::{ReplicaStatus, Replicating, ReplicationError, TokenReader, TokenWriter, replicating};
use crate::catalogue::entry::Family;
use crate::replication::role::Replication;
use crate::start::access::Access;
use crate::start::connect::{Transport, connect};

/// Time between two checks of a replica that has not caught up with its primary.
const POLL: Duration = Duration::from_millis(5);
/// Time between two checks whether a replica has stopped.
const STATUS_EVERY: Duration = Duration::from_millis(250);
/// Time limit of an answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(20);

/// A primary with its replicas.
#[derive(Clone, Debug)]
pub struct Topology {
    pub family: Family,
    pub replication: Replication,
    pub primary: Access,
    /// The replicas in the order of their numbers. The first replica has number 1.
    pub replicas: Vec<Access>,
}

impl Topology {
    /// Returns the replication steps of the servers' family.
    pub(super) fn steps(&self) -> Option<&'static dyn Replicating> {
        replicating(self.family, self.replication.mode)
    }

    /// Connects to the primary. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// The server refuses the login, or does not answer.
    pub fn connect_primary(&self, patience: Duration) -> Result<Client, ClientError> {
        connect(self.family, &self.primary, Transport::Socket, patience)
    }

    /// Connects to a replica. `place` is its index in [`replicas`](Self::replicas).
    ///
    /// # Errors
    /// The server refuses the login, or does not answer.
    pub fn connect_replica(&self, place: usize, patience: Duration) -> Result<Client, ClientError> {
        connect(self.family, &self.replicas[place], Transport::Socket, patience)
    }

    /// Returns a writer of tokens on the primary.
    ///
    /// # Errors
    /// The primary refuses a statement, or does not answer.
    pub fn writer(&self, patience: Duration) -> Result<TokenWriter, ClientError> {
        TokenWriter::new(self.connect_primary(patience)?, self.family)
    }

    /// Asks a replica for its status.
    ///
    /// # Errors
    /// The replica does not answer.
    pub fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError> {
        self.steps().ok_or(ClientError::NoServer)?.status(client)
    }

    /// Waits until each replica has everything that the primary has committed, and returns how long that took.
    ///
    /// # Errors
    /// A replica has stopped, has not caught up after `patience`, or does not answer. The primary refuses a
    /// statement, or its commits wait for fewer replicas than the mode says. Or `stop` is set.
    pub fn catch_up(&self, patience: Duration, stop: &AtomicBool) -> Result<Duration, ReplicationError> {
        let began = Instant::now();
        let written = self.writer(patience).and_then(|mut writer| writer.write());
        let token = written.map_err(|error| {
            if error.is_timeout() {
                ReplicationError::Stuck { seconds: patience.as_secs() }
            } else {
                ReplicationError::Primary(error)
            }
        })?;
        for place in 0..self.replicas.len() {
            self.await_token(place, token, began + patience, patience, stop)?;
        }
        self.check_mode()?;
        Ok(began.elapsed())
    }

    /// Checks that commits wait for as many replicas as the mode says. A server may stop waiting, and then shows this
    /// in its status.
    ///
    /// # Errors
    /// Commits wait for fewer replicas than the mode says, or the primary refuses a statement.
    pub fn check_mode(&self) -> Result<(), ReplicationError> {
        let wanted = self.replication.mode.waits_for(self.replication.replicas);
        let Some(steps) = self.steps().filter(|_| wanted > 0) else { return Ok(()) };
        let found =
            self.connect_primary(ANSWER_PATIENCE).and_then(|mut client| steps.waited_for(&mut client));
        match found.map_err(ReplicationError::Primary)? {
            found if found < wanted => Err(ReplicationError::NotWaiting { wanted, found }),
            _ => Ok(()),
        }
    }

    /// Waits until a replica has a token.
    fn await_token(
        &self,
        place: usize,
        token: u64,
        deadline: Instant,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(), ReplicationError> {
        let number = place as u32 + 1;
        let refused = |source| ReplicationError::Replica { number, source };
        let mut reader = TokenReader::new(self.connect_replica(place, ANSWER_PATIENCE).map_err(refused)?);
        let mut client = self.connect_replica(place, ANSWER_PATIENCE).map_err(refused)?;
        let mut asked = Instant::now();
        let mut status = ReplicaStatus::default();
        while reader.read().map_err(refused)? < token {
            if stop.load(Ordering::Relaxed) {
                return Err(ReplicationError::Interrupted);
            }
            let is_late = Instant::now() >= deadline;
            if is_late || asked.elapsed() >= STATUS_EVERY {
                status = self.status(&mut client).map_err(refused)?;
                asked = Instant::now();
            }
            if let Some(said) = status.stopped.take() {
                return Err(ReplicationError::Stopped { number, said });
            }
            if is_late {
                let behind = status.behind_seconds.map_or_else(
                    || "unknown how far behind".to_owned(),
                    |seconds| format!("{seconds:.1} s behind"),
                );
                return Err(ReplicationError::Late { number, seconds: patience.as_secs(), behind });
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}
