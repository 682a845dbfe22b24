//! A primary with one replica, under a load that writes.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use dyno_engine::{
    Cache, Catalogue, Family, ReplicaGuard, Replication, ReplicationMode, Role, Server, StartOptions,
    SystemName, Topology, attach, fetch, start,
};
use dyno_load::Rate;

use crate::generator::load::fill;
use crate::support::background::BackgroundLoad;
use crate::support::dyno;
use crate::support::shape::Shape;

/// Time limit for the replica to catch up, and for the load to connect.
const PATIENCE: Duration = Duration::from_secs(120);
const CONNECTIONS: u32 = 4;
/// Settings with which neither a commit nor a replica that catches up waits for the disk.
const MYSQLD: [(&str, &str); 2] =
    [("innodb_buffer_pool_size", "128M"), ("innodb_flush_log_at_trx_commit", "0")];
const POSTGRES: [(&str, &str); 2] = [("shared_buffers", "128MB"), ("fsync", "off")];

pub(super) struct Bed {
    load: BackgroundLoad,
    /// This field is declared before the primary, because fields are dropped in the order of declaration, and the
    /// replica must end first.
    replica: Server,
    primary: Server,
    topology: Topology,
}

impl Bed {
    /// Starts the servers, fills a table, and begins the load at a rate of transactions per second.
    pub(super) fn start(name: &SystemName, rate: f64) -> anyhow::Result<Self> {
        let cache = Cache::default_location();
        let installation = fetch(&Catalogue::builtin().find(name)?, &cache, &mut |_| {})?;
        let settings = if installation.entry.family == Family::Postgres { POSTGRES } else { MYSQLD };
        let settings: BTreeMap<String, String> =
            settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = |role| StartOptions {
            role,
            storage_engine: name.storage_engine.clone(),
            settings: settings.clone(),
            ..StartOptions::new(cache.runs())
        };
        let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 1, delay_seconds: 0 };
        let primary = start(&installation, options(Role::Primary(replication)))?;
        let of_primary = Box::new(primary.access().clone());
        let role = Role::Replica { number: 1, replication, primary: of_primary };
        let replica = start(&installation, options(role))?;
        let topology = attach(&primary, std::slice::from_ref(&replica), ReplicaGuard::ReadOnly)?;
        let topology = topology.with_context(|| format!("{name} has no replicas"))?;
        let shape = Shape {
            workload: "oltp_update_index".to_owned(),
            tables: 1,
            rows: 10_000,
            seconds: 3600,
            unprepared: false,
        };
        fill(primary.access(), &shape)?;
        topology.catch_up(PATIENCE, &AtomicBool::new(false))?;
        let mut job = dyno::job(primary.access(), &shape, "run", CONNECTIONS)?;
        // The benchmark itself tells the load to end.
        job.seconds = None;
        job.rate = Some(Rate::steady(rate));
        let load = BackgroundLoad::start(&job, PATIENCE)?;
        Ok(Self { load, replica, primary, topology })
    }

    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Ends the load and stops the servers. Returns an error if the load failed.
    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.load.end()?;
        self.replica.stop()?;
        self.primary.stop()?;
        Ok(())
    }
}
