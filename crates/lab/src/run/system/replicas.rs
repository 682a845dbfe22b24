//! The replicas of a server under test: servers of their own, with its settings, data and limits.

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
    /// Limits of each replica, if it has some. Declared after the servers, so that they are dropped later.
    confined: Vec<Arc<Confined>>,
    topology: Topology,
}

impl Replicas {
    /// Starts the replicas of a primary that has just started, on the data on which it did.
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

    /// Their sockets.
    pub(super) fn addresses(&self) -> Vec<Address> {
        self.servers.iter().map(|server| Address::Unix(server.access().socket.clone())).collect()
    }

    /// The limit that one of them reached, in words.
    pub(super) fn met_limit(&self) -> Option<String> {
        let of = |server: &Server| server.memory_kill().or_else(|| server.full_volume());
        let named = |(number, server): (u32, &Server)| Some(format!("replica {number}: {}", of(server)?));
        (1..).zip(&self.servers).find_map(named)
    }

    /// The last lines of their logs.
    pub(super) fn log_tail(&self, lines: usize) -> String {
        let tail = |(number, server): (u32, &Server)| {
            let state = if server.is_alive() { "" } else { ", which has died" };
            format!("\nreplica {number}{state}:\n{}", server.log_tail(lines).join("\n"))
        };
        (1..).zip(&self.servers).map(tail).collect()
    }

    /// Switches their limits of I/O on or off.
    pub(super) fn limit_io(&self, limited: bool) -> Result<(), SystemError> {
        for confined in &self.confined {
            if limited { confined.impose_io_limits()? } else { confined.lift_io_limits()? }
        }
        Ok(())
    }
}
