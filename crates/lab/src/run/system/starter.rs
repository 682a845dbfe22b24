//! Starts a system, with or without stored data.

use dyno_engine::{Cache, Found, Installation, Snapshot, SnapshotParts, Snapshots};

use super::holds::Holds;
use super::loads::parts;
use super::local_server::LocalServer;
use super::remote_server::RemoteServer;
use super::running::RunningSystem;
use super::sqlite_file::SqliteFile;
use crate::plan::{Plan, Source, System};
use crate::run::error::SystemError;

/// What is needed to start a system.
#[derive(Clone, Copy)]
pub(crate) struct Starter<'a> {
    pub(crate) system: &'a System,
    /// The installation of the engine. `None` if the engine is built in or the server runs already.
    pub(crate) installation: Option<&'a Installation>,
    pub(crate) cache: &'a Cache,
    /// The data that the system starts with; `None` for an empty database.
    pub(crate) given: Option<&'a Snapshot>,
    pub(crate) holds: &'a Holds<'a>,
}

impl Starter<'_> {
    /// Starts the system on a snapshot if one is given. Otherwise starts the system on the data that the plan gives
    /// it, or with an empty database.
    pub(crate) fn start(&self, data_from: Option<Snapshot>) -> Result<Box<dyn RunningSystem>, SystemError> {
        let Self { system, installation, cache, given, holds } = self;
        let data_from = data_from.or_else(|| given.cloned());
        if let Source::Dsn { dsn, .. } = &system.source {
            return Ok(Box::new(RemoteServer::connect(system, dsn, holds)?));
        }
        Ok(match installation {
            Some(installation) => {
                Box::new(LocalServer::start(system, installation, cache, data_from.as_ref())?)
            }
            None => Box::new(SqliteFile::start(&cache.runs(), &system.settings, data_from.as_ref())?),
        })
    }

    /// Returns the snapshot of the data after some loads, if there is one. If the list of loads is empty, returns the
    /// data that the plan gives the system.
    pub(crate) fn kept(&self, plan: &Plan, loads: &[usize]) -> Option<Snapshot> {
        if loads.is_empty() {
            return self.given.cloned();
        }
        let parts = parts(self.parts(), plan, self.system, loads);
        match Snapshots::of(self.cache).find(&parts.key()) {
            Ok(Found::Snapshot(snapshot)) => Some(snapshot),
            // There is no snapshot, or it is damaged. The caller then loads the tables.
            _ => None,
        }
    }

    /// Returns the parts of a snapshot's key that depend on the system.
    pub(crate) fn parts(&self) -> SnapshotParts {
        let System { source, settings, data_settings, .. } = self.system;
        let settings = data_settings.as_ref().unwrap_or(settings);
        if let Some(installation) = self.installation {
            let parts = SnapshotParts::of_server(installation, source.storage_engine(), settings);
            return match self.given {
                Some(given) => parts.with("begins on", given.key().as_str()),
                None => parts,
            };
        }
        let of_sqlite = SnapshotParts::default().with("engine", &source.name());
        settings.iter().fold(of_sqlite, |parts, (name, value)| parts.with(name, value))
    }
}
