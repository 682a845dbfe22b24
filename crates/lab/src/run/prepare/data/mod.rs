//! Makes the data that systems start with, once for each system, and stores it as a snapshot that every round
//! restores.

mod dump;
mod fingerprint;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_engine::{
    DumpError, Found, Installation, Server, Snapshot, SnapshotParts, Snapshots, StartOptions,
    check_data_folder, execute_file, load_dump, start, start_upgraded,
};
use dyno_load::{Address, Frame, FrameSource as _, Protocol, Script, Target};

use super::install::{Installed, do_without};
use crate::job;
use crate::plan::{DataOrigin, Plan, SystemData};
use crate::run::error::{DataError, RunError};
use crate::run::observer::{Event, Observer};
use crate::run::options::RunOptions;
use crate::run::system::start_options;
use crate::run::trial::{TrialAbort, start_load};

/// Time limit of a shutdown, in which the server writes all its dirty pages.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(600);
/// While a script runs: the time between two checks of whether the user has stopped the run.
const GLANCE: Duration = Duration::from_millis(100);

/// Executes the statements in a file. The string argument is the file's name in messages.
type Execute = fn(&Server, &str, &mut dyn BufRead, &AtomicBool) -> Result<(), DumpError>;

/// Makes the data of each system. The result for a system that starts with an empty database is `None`. A system
/// whose data cannot be made counts as not installed.
///
/// # Errors
/// The data of the base cannot be made. Or all systems are needed, and the data of one of them cannot be made. Or the
/// user stopped the run.
pub(crate) fn give_data(
    plan: &Plan,
    installed: &mut [Installed],
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Option<Snapshot>>, RunError> {
    let mut given: Vec<Option<Snapshot>> = Vec::new();
    for position in 0..plan.systems.len() {
        let Ok(Some(installation)) = &installed[position] else {
            given.push(None);
            continue;
        };
        let gift = Gift { plan, position, installation, installed: &*installed, given: &given, options };
        let made = gift.is_needed().then(|| gift.find_or_make(observer)).transpose();
        match made {
            Ok(snapshot) => given.push(snapshot),
            Err(source) => {
                let (system, source) = (plan.systems[position].id.clone(), Box::new(source));
                let error = RunError::Data { system, source };
                if options.needs_all_systems {
                    return Err(error);
                }
                installed[position] = Err(do_without(plan, position, options, error, observer)?);
                given.push(None);
            }
        }
    }
    Ok(given)
}

/// A system whose data is being made.
struct Gift<'a> {
    plan: &'a Plan,
    position: usize,
    installation: &'a Installation,
    installed: &'a [Installed],
    /// The data of the systems before this one in the plan.
    given: &'a [Option<Snapshot>],
    options: &'a RunOptions<'a>,
}

impl Gift<'_> {
    fn origin(&self) -> Option<&DataOrigin> {
        self.plan.systems[self.position].data.as_ref().map(|data| &data.origin)
    }

    /// Whether the system starts with data, or another system starts with an upgrade of this system's data.
    fn is_needed(&self) -> bool {
        let id = &self.plan.systems[self.position].id;
        let is_upgraded = |data: &SystemData| matches!(&data.origin, DataOrigin::UpgradeOf(of) if of == id);
        self.origin().is_some() || self.plan.systems.iter().filter_map(|it| it.data.as_ref()).any(is_upgraded)
    }

    fn find_or_make(&self, observer: &mut dyn Observer) -> Result<Snapshot, DataError> {
        let snapshots = Snapshots::of(&self.options.cache);
        let parts = self.parts()?;
        if let Ok(Found::Snapshot(snapshot)) = snapshots.find(&parts.key()) {
            return Ok(snapshot);
        }
        let system = &self.plan.systems[self.position].id;
        observer.observe(&Event::GivingData { system, how: &self.how() });
        let (mut server, description) = self.make()?;
        let description = self.changed(&server, description)?;
        let data = server.access().datadir.clone();
        server.shut_down_cleanly(SHUTDOWN_PATIENCE)?;
        Ok(snapshots.save(&parts, &description, &data)?)
    }

    /// Returns everything that the data depends on, as parts of the snapshot's key.
    fn parts(&self) -> Result<SnapshotParts, DataError> {
        let system = &self.plan.systems[self.position];
        let parts =
            SnapshotParts::of_server(self.installation, system.source.storage_engine(), &system.settings);
        let mut parts = parts.with("given", "1");
        if let Some(path) = self.changes() {
            parts = fingerprint::of(path, parts.with("changed by", &path.display().to_string()))?;
        }
        Ok(match self.origin() {
            None => parts,
            Some(DataOrigin::Folder(path) | DataOrigin::Dump(path)) => fingerprint::of(path, parts)?,
            Some(DataOrigin::Script(script)) => {
                let options = job::options(self.plan, system, &BTreeMap::new());
                parts.with("script", &format!("{} {options:?}", script.source))
            }
            Some(DataOrigin::UpgradeOf(of)) => {
                let (_, snapshot) = self.upgraded(of)?;
                parts.with("upgraded from", snapshot.key().as_str())
            }
        })
    }

    /// Describes to the user what is being done.
    fn how(&self) -> String {
        match self.origin() {
            None => "making an empty database".to_owned(),
            Some(DataOrigin::Folder(path)) => format!("starting on a copy of {}", path.display()),
            Some(DataOrigin::Dump(path)) => format!("loading {}", path.display()),
            Some(DataOrigin::Script(script)) => format!("making the tables of {}", script.name),
            Some(DataOrigin::UpgradeOf(of)) => format!("upgrading a copy of the data of {of}"),
        }
    }

    /// Returns a server that has the data, and a text that says how the data was made. The text continues a sentence
    /// that begins with "the data".
    fn make(&self) -> Result<(Server, String), DataError> {
        let system = &self.plan.systems[self.position];
        let options = start_options(system, &self.options.cache);
        let start = |options: StartOptions| start(self.installation, options);
        match self.origin() {
            None => Ok((start(options)?, "an empty database".to_owned())),
            Some(DataOrigin::Folder(path)) => {
                check_data_folder(path, &self.installation.entry)?;
                let options = StartOptions { data_copied_from: Some(path.clone()), ..options };
                Ok((start(options)?, format!("a copy of {}", path.display())))
            }
            Some(DataOrigin::Dump(path)) => {
                let server = start(options)?;
                self.execute(path, &server, load_dump)?.map_err(DataError::Dump)?;
                Ok((server, format!("loaded from {}", path.display())))
            }
            Some(DataOrigin::Script(script)) => {
                let server = start(options)?;
                self.run_script(script, &server)?;
                Ok((server, format!("made by {}", script.name)))
            }
            Some(DataOrigin::UpgradeOf(of)) => {
                let old = self.upgraded(of)?;
                let upgraded = start_upgraded(old, self.installation, options, self.options.stop);
                let (server, way) = upgraded
                    .map_err(|source| DataError::Upgrade { of: of.clone(), source: Box::new(source) })?;
                Ok((server, way.to_string()))
            }
        }
    }

    /// The SQL file whose statements change the data, if the plan names one.
    fn changes(&self) -> Option<&Path> {
        self.plan.systems[self.position].data.as_ref()?.changes.as_deref()
    }

    /// Executes the file that changes the data, if the plan names one. `made` says how the data was made. Returns
    /// `made` with the change added.
    fn changed(&self, server: &Server, made: String) -> Result<String, DataError> {
        let Some(path) = self.changes() else { return Ok(made) };
        self.execute(path, server, execute_file)?.map_err(DataError::Changes)?;
        Ok(format!("{made}, then changed by {}", path.display()))
    }

    /// Executes an SQL file, which may be a compressed dump.
    fn execute(
        &self,
        path: &Path,
        server: &Server,
        execute: Execute,
    ) -> Result<Result<(), DumpError>, DataError> {
        let mut file = dump::open(path, self.installation)?;
        let executed = execute(server, &path.display().to_string(), &mut file, self.options.stop);
        file.end(executed.is_ok())?;
        Ok(executed)
    }

    /// Returns the installation and the data of the system whose data is upgraded.
    fn upgraded(&self, of: &str) -> Result<(&Installation, &Snapshot), DataError> {
        let missing = || DataError::Missing(of.to_owned());
        let position = self.plan.systems.iter().position(|system| system.id == of).ok_or_else(missing)?;
        let installation = self.installed[position].as_ref().ok().and_then(Option::as_ref);
        let snapshot = self.given.get(position).and_then(Option::as_ref);
        installation.zip(snapshot).ok_or_else(missing)
    }

    /// Runs the command `prepare` of a script.
    fn run_script(&self, script: &Script, server: &Server) -> Result<(), DataError> {
        let access = server.access();
        let protocol = match server.family() {
            dyno_engine::Family::Postgres => Protocol::Pgsql,
            _ => Protocol::Mysql,
        };
        let target = Target {
            user: access.user.clone(),
            password: access.password.clone(),
            database: dyno_engine::DATABASE.to_owned(),
            ..Target::new(protocol, vec![Address::Unix(access.socket.clone())])
        };
        let job = job::preparing(self.plan, &self.plan.systems[self.position], script.clone(), target);
        let failed = |abort: TrialAbort| match abort {
            TrialAbort::Failed { message, .. } => DataError::Script(message),
            TrialAbort::Stopped | TrialAbort::Hung(_) => DataError::Stopped,
        };
        let mut load = start_load(&self.options.driver_program, &job, None).map_err(failed)?;
        loop {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(DataError::Stopped);
            }
            match load.next_frame(GLANCE).map_err(|error| DataError::Script(error.to_string()))? {
                Some((_, Frame::Finished(_))) => return Ok(()),
                Some((_, Frame::Failed { message, .. })) => return Err(DataError::Script(message)),
                _ => {}
            }
        }
    }
}
