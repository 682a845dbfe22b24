//! The replicas of a server under test. Each is a separate server with the settings, data and limits of its
//! primary.

use std::sync::Arc;

use dyno_engine::{
    Cache, Installation, ReplicaGuard, Replication, Role, Server, Snapshot, StartOptions, Topology, attach,
};
use dyno_host::Confined;
use dyno_load::Address;

use super::local_server::{confined, start_options};
use crate::plan::System;
use crate::run::error::SystemError;

/// The replicas of a server.
pub(super) struct Replicas {
    servers: Vec<Server>,
    /// The limits of the replicas, if there are limits. This field is declared after the servers, because fields are
    /// dropped in the order of declaration, and the limits must outlive the servers.
    confined: Vec<Arc<Confined>>,
    topology: Topology,
}

impl Replicas {
    /// Starts the replicas of a primary that has just started. The replicas start on the same data as the primary.
    pub(super) fn start(
        replication: Replication,
        system: &System,
        installation: &Installation,
        cache: &Cache,
        data_from: Option<&Snapshot>,
        primary: &Server,
    ) -> Result<Option<Self>, SystemError> {
        let (mut servers, mut limits) = (Vec::new(), Vec::new());
        for number in 1..=replication.replicas {
            let confined = confined(system, cache)?;
            let primary = Box::new(primary.access().clone());
            let options = StartOptions {
                role: Role::Replica { number, replication, primary },
                confined: confined.clone(),
                data_from: data_from.cloned(),
                ..start_options(system, cache)
            };
            servers.push(dyno_engine::start(installation, options)?);
            limits.extend(confined);
        }
        let topology = attach(primary, &servers, ReplicaGuard::ReadOnly)?;
        Ok(topology.map(|topology| Self { servers, confined: limits, topology }))
    }

    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the sockets of the replicas.
    pub(super) fn addresses(&self) -> Vec<Address> {
        self.servers.iter().map(|server| Address::Unix(server.access().socket.clone())).collect()
    }

    /// The limit that a replica has reached, in words; `None` if none has.
    pub(super) fn met_limit(&self) -> Option<String> {
        let of = |server: &Server| server.memory_kill().or_else(|| server.full_volume());
        let named = |(number, server): (u32, &Server)| Some(format!("replica {number}: {}", of(server)?));
        (1..).zip(&self.servers).find_map(named)
    }

    /// Returns the last lines of the replicas' logs.
    pub(super) fn log_tail(&self, lines: usize) -> String {
        let tail = |(number, server): (u32, &Server)| {
            let state = if server.is_alive() { "" } else { ", which has died" };
            format!("\nreplica {number}{state}:\n{}", server.log_tail(lines).join("\n"))
        };
        (1..).zip(&self.servers).map(tail).collect()
    }

    /// Switches the I/O limits of all replicas on or off.
    pub(super) fn limit_io(&self, limited: bool) -> Result<(), SystemError> {
        for confined in &self.confined {
            if limited { confined.impose_io_limits()? } else { confined.lift_io_limits()? }
        }
        Ok(())
    }
}
