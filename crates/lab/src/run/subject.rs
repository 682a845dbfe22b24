//! A system while it is under test, whatever keeps its data.

use std::path::Path;

use dyno_engine::{
    Cache, Counters, DrainLimits, DrainProgress, DrainReport, Found, Installation, Snapshot, SnapshotParts,
    Snapshots, fetch,
};
use dyno_load::Target;

use super::error::{RunError, SubjectError};
use super::loads::parts;
use super::meter::Work;
use super::observer::{Event, Observer};
use super::remote::RemoteSubject;
use super::server::ServerSubject;
use super::sqlite::SqliteSubject;
use crate::plan::{Plan, Source, System};

/// A system that is up and can be put under load.
pub(crate) trait Subject {
    /// Where its load goes.
    fn target(&self) -> Target;
    /// Where it does its work, whose CPU and storage use is the system's own.
    fn work(&self) -> Work;
    /// The folder that holds its data; none where that is not known.
    fn data(&self) -> Option<&Path>;
    /// The engine's own word for its version.
    fn version(&self) -> String;
    /// Every setting with its effective value.
    fn variables(&self) -> Result<Vec<(String, String)>, SubjectError>;
    /// Whether it is still there.
    fn is_alive(&self) -> bool;
    /// The last lines of its log.
    fn log_tail(&self) -> String;
    /// A reader of its counters; none if it has none, or lets nobody read them.
    fn counters(&self) -> Option<Counters>;
    /// Waits until its pending writes are done.
    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SubjectError>;
    /// Reads every table and index once, so that they are in its caches as far as these are large enough.
    fn read_tables(&self) -> Result<(), SubjectError>;
    /// Puts the limits of its I/O into force, or out of it for work that is not to be measured.
    fn limit_io(&self, limited: bool) -> Result<(), SubjectError>;
    /// Starts it again on the same data, killing what is left of it.
    fn restart(&mut self) -> Result<(), SubjectError>;
    /// Shuts it down so that its data can be copied.
    fn shut_down_cleanly(&mut self) -> Result<(), SubjectError>;

    /// Shuts it down cleanly and starts it again on the same data.
    fn restart_cleanly(&mut self) -> Result<(), SubjectError> {
        self.shut_down_cleanly()?;
        self.restart()
    }
}

/// Fetches what a system needs; nothing for an engine that is built in.
pub(crate) fn install(
    system: &System,
    cache: &Cache,
    observer: &mut dyn Observer,
) -> Result<Option<Installation>, RunError> {
    check_rights(system)?;
    let entry = match &system.source {
        Source::Basedir { installation, .. } => return Ok(Some(installation.as_ref().clone())),
        Source::Catalogue { entry, .. } if entry.family.has_server() => entry,
        Source::Catalogue { .. } | Source::Dsn { .. } => return Ok(None),
    };
    let mut progress = |progress| observer.observe(&Event::Fetching { entry, progress });
    let installation = fetch(entry, cache, &mut progress);
    installation.map(Some).map_err(|source| RunError::Fetch { entry: entry.to_string(), source })
}

/// Makes sure that confinements make sense, and that the base can be confined, before anything is done.
pub(crate) fn check_confinements(plan: &Plan) -> Result<(), RunError> {
    for system in plan.systems.iter().filter(|system| !system.confinement.is_none()) {
        if !system.source.starts_server() {
            return Err(RunError::NothingToConfine(system.id.clone()));
        }
    }
    check_rights(&plan.systems[plan.base])
}

/// Whether this process may confine a system as the plan says.
fn check_rights(system: &System) -> Result<(), RunError> {
    let missing = |missing| RunError::Confine { system: system.id.clone(), missing };
    if system.confinement.is_none() { Ok(()) } else { system.confinement.check_rights().map_err(missing) }
}

/// How to have a system up.
#[derive(Clone, Copy)]
pub(crate) struct Starter<'a> {
    pub(crate) system: &'a System,
    /// None for an engine that is built in.
    pub(crate) installation: Option<&'a Installation>,
    pub(crate) cache: &'a Cache,
}

impl Starter<'_> {
    /// Starts it, on kept data or on none.
    pub(crate) fn start(&self, data_from: Option<Snapshot>) -> Result<Box<dyn Subject>, SubjectError> {
        let Self { system, installation, cache } = self;
        if let Source::Dsn { dsn, .. } = &system.source {
            return Ok(Box::new(RemoteSubject::connect(dsn)?));
        }
        Ok(match installation {
            Some(installation) => Box::new(ServerSubject::start(system, installation, cache, data_from)?),
            None => Box::new(SqliteSubject::start(&cache.runs(), &system.settings, data_from.as_ref())?),
        })
    }

    /// The kept data of some loads, if there is any.
    pub(crate) fn kept(&self, plan: &Plan, loads: &[usize]) -> Option<Snapshot> {
        let parts = parts(self.parts(), plan, self.system, loads);
        match Snapshots::of(self.cache).find(&parts.key()) {
            Ok(Found::Snapshot(snapshot)) => Some(snapshot),
            // Nothing there, or nothing that can be used: then the tables are loaded.
            _ => None,
        }
    }

    /// What of the system decides how its data looks on disk.
    pub(crate) fn parts(&self) -> SnapshotParts {
        let System { source, settings, .. } = self.system;
        if let Some(installation) = self.installation {
            return SnapshotParts::of_server(installation, source.storage_engine(), settings);
        }
        let of_sqlite = SnapshotParts::default().with("engine", &source.name());
        settings.iter().fold(of_sqlite, |parts, (name, value)| parts.with(name, value))
    }
}
