//! Makes replicas follow their primary.

use std::time::Duration;

use dyno_client::{Client, ClientError};

use super::Topology;
use crate::start::server::Server;
use crate::start::server::error::StartError;

/// Time limit of a statement.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether replicas refuse writes of Dyno's own account. Some servers cannot refuse them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaGuard {
    /// Replicas refuse writes of Dyno's own account.
    ReadOnly,
    /// Replicas accept the writes, because a replica may become a primary.
    Open,
}

/// Makes replicas follow a primary. All servers must have just started on the same data. Returns primary and
/// replicas as one topology, or `None` if the server was not started as a primary.
///
/// # Errors
/// A server refuses a statement.
pub fn attach(
    primary: &Server,
    replicas: &[Server],
    guard: ReplicaGuard,
) -> Result<Option<Topology>, StartError> {
    let Some(replication) = primary.role().replication().copied() else { return Ok(None) };
    let entry = primary.entry();
    let Some(steps) = primary.role().steps(entry.family) else { return Ok(None) };
    execute(primary.connect(PATIENCE)?, &steps.primary_statements(entry))?;
    for replica in replicas {
        let mut statements = steps.replica_statements(entry, &primary.host(), replica.role());
        if guard == ReplicaGuard::ReadOnly {
            statements.extend(steps.guard_statements(entry));
        }
        execute(replica.connect(PATIENCE)?, &statements)?;
    }
    let accesses: Vec<_> = replicas.iter().map(|replica| replica.access().clone()).collect();
    steps.remember(&primary.site(), &accesses)?;
    Ok(Some(Topology {
        family: entry.family,
        replication,
        primary: primary.access().clone(),
        replicas: accesses,
    }))
}

fn execute(mut client: Client, statements: &[String]) -> Result<(), ClientError> {
    statements.iter().try_for_each(|statement| client.query(statement).map(|_| ()))
}
