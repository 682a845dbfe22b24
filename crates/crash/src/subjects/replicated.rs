//! A primary with replicas. When it is crashed, a replica takes its place.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::{
    Family, ReplicaGuard, ReplicationError, Role, Server, StartOptions, TokenWriter, Topology, attach, start,
};

use crate::clients::session::{ServerSession, Session, SessionError};
use crate::error::CrashError;
use crate::options::{CrashedSystem, Failover};
use crate::subjects::server::{LOG_LINES, faults};
use crate::subjects::subject::Subject;

/// Time limit for replicas to catch up, and for one of them to take the primary's place.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time between two attempts to write after a failover.
const POLL: Duration = Duration::from_millis(5);

pub(crate) struct ReplicatedSubject {
    /// This field comes first, so that replicas are dropped before their primary.
    replicas: Vec<Server>,
    primary: Server,
    topology: Topology,
    cut_off: Duration,
    family: Family,
    /// The index of the replica that has become the primary.
    promoted: Option<usize>,
}

impl ReplicatedSubject {
    /// Starts a primary and its replicas.
    pub(crate) fn start(system: &CrashedSystem, failover: &Failover) -> Result<Self, CrashError> {
        let replication = failover.replication;
        let options = |role| StartOptions {
            role,
            storage_engine: system.storage_engine.clone(),
            settings: system.settings.clone(),
            ..StartOptions::new(&system.data_root)
        };
        let primary = start(&system.installation, options(Role::Primary(replication)))?;
        let replica = |number| {
            let primary = Box::new(primary.access().clone());
            start(&system.installation, options(Role::Replica { number, replication, primary }))
        };
        let replicas = (1..=replication.replicas).map(replica).collect::<Result<Vec<_>, _>>()?;
        let topology = attach(&primary, &replicas, ReplicaGuard::Open)?
            .ok_or_else(|| CrashError::NoReplicas { entry: system.installation.entry.to_string() })?;
        let family = system.installation.entry.family;
        Ok(Self { replicas, primary, topology, cut_off: failover.cut_off, family, promoted: None })
    }

    /// The server that takes writes.
    fn server(&self) -> &Server {
        self.promoted.map_or(&self.primary, |place| &self.replicas[place])
    }
}

impl Subject for ReplicatedSubject {
    fn version(&self) -> String {
        self.primary.version().to_owned()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, CrashError> {
        Ok(self.primary.variables()?.into_iter().collect())
    }

    /// Waits until the replicas have received everything.
    fn settle(&mut self) -> Result<(), CrashError> {
        self.topology.catch_up(PATIENCE, &AtomicBool::new(false))?;
        Ok(())
    }

    fn client(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(ServerSession::open(self.server())?))
    }

    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        self.client()
    }

    fn before_crash(&self) -> Result<(), CrashError> {
        if !self.cut_off.is_zero() {
            self.topology.cut_off()?;
            thread::sleep(self.cut_off);
        }
        Ok(())
    }

    fn crash(&self, killed: &mut dyn FnMut()) {
        self.primary.crash(killed);
    }

    /// Lets a replica take the primary's place, and waits until that replica accepts a write.
    fn recover(&mut self) -> Result<(), CrashError> {
        let place = self.topology.fail_over(PATIENCE, &AtomicBool::new(false))?;
        self.promoted = Some(place);
        let write = || {
            let client = self.topology.connect_replica(place, PATIENCE)?;
            TokenWriter::new(client, self.family)?.write()
        };
        let deadline = Instant::now() + PATIENCE;
        while let Err(source) = write() {
            if Instant::now() > deadline {
                return Err(ReplicationError::Replica { number: place as u32 + 1, source }.into());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn faults(&self, session: &mut dyn Session) -> Result<Vec<String>, SessionError> {
        faults(self.family, session)
    }

    fn log_tail(&self) -> Vec<String> {
        self.server().log_tail(LOG_LINES)
    }
}
