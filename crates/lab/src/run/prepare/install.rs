//! Fetches the engines of systems, and checks that limits can be set.

use dyno_engine::{Cache, Installation, fetch, fetch_image};
use dyno_host::VolatileVolume;
use dyno_settings::CrashKind;

use crate::plan::{Plan, Source, System};
use crate::run::error::RunError;
use crate::run::not_started::NotStarted;
use crate::run::observer::{Event, Observer};
use crate::run::options::RunOptions;

/// The installation of a system, or the reason why there is none. The installation is `None` if the engine is built
/// in or the server runs already.
pub(crate) type Installed = Result<Option<Installation>, NotStarted>;

/// Fetches the engines of a plan, in the order of the plan's systems.
///
/// # Errors
/// The base cannot be fetched, or the user stopped the run.
pub(crate) fn install_all(
    plan: &Plan,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Installed>, RunError> {
    let each = |position: usize| match install(&plan.systems[position], &options.cache, observer) {
        Ok(installation) => Ok(Ok(installation)),
        Err(error) => do_without(plan, position, options, error, observer).map(Err),
    };
    (0..plan.systems.len()).map(each).collect()
}

/// Fetches a system's engine, unless it is built in.
fn install(
    system: &System,
    cache: &Cache,
    observer: &mut dyn Observer,
) -> Result<Option<Installation>, RunError> {
    check_rights(system)?;
    let entry = match &system.source {
        Source::Basedir { installation, .. } => return Ok(Some(installation.as_ref().clone())),
        // The image was on this machine already when the plan was read, so nothing has to be fetched.
        Source::Image { installation, .. } if installation.image().is_some() => {
            return Ok(Some(installation.as_ref().clone()));
        }
        Source::Catalogue { entry, .. } if entry.family.has_server() => entry,
        Source::Image { name, installation, .. } => {
            let entry = &installation.entry;
            let mut progress = |progress| observer.observe(&Event::Fetching { entry, progress });
            let fetched = fetch_image(name, entry, &mut progress);
            return fetched.map(Some).map_err(|source| RunError::Image { image: name.to_string(), source });
        }
        Source::Catalogue { .. } | Source::Dsn { .. } => return Ok(None),
    };
    let mut progress = |progress| observer.observe(&Event::Fetching { entry, progress });
    let installation = fetch(entry, cache, &mut progress);
    installation.map(Some).map_err(|source| RunError::Fetch { entry: entry.to_string(), source })
}

/// Checks that systems with limits have a server, and that limits can be set for the base.
pub(crate) fn check_confinements(plan: &Plan) -> Result<(), RunError> {
    for system in plan.systems.iter().filter(|system| !system.confinement.is_none()) {
        if !system.source.starts_server() {
            return Err(RunError::NothingToConfine(system.id.clone()));
        }
    }
    check_rights(&plan.systems[plan.base])
}

/// Checks that this process may cut the power of volumes, if the plan's crash tests do that.
pub(crate) fn check_power_cuts(plan: &Plan) -> Result<(), RunError> {
    match plan.crash.as_ref().map(|tests| tests.kind) {
        Some(CrashKind::Power) => VolatileVolume::check_rights().map_err(RunError::PowerCut),
        Some(CrashKind::Process) | None => Ok(()),
    }
}

/// Checks that this process may set a system's limits.
fn check_rights(system: &System) -> Result<(), RunError> {
    let missing = |missing| RunError::Confine { system: system.id.clone(), missing };
    if system.confinement.is_none() { Ok(()) } else { system.confinement.check_rights().map_err(missing) }
}

/// Records that a system cannot be started. Returns an error if the system is the base, or if the user stopped the
/// run.
pub(crate) fn do_without(
    plan: &Plan,
    position: usize,
    options: &RunOptions<'_>,
    error: RunError,
    observer: &mut dyn Observer,
) -> Result<NotStarted, RunError> {
    // Pressing ^C in a terminal also reaches package managers and servers. Their failure then means that the run
    // was stopped.
    if position == plan.base || options.is_stopped() {
        return Err(error);
    }
    let not_started = NotStarted::new(&plan.systems[position].id, &error);
    observer.observe(&Event::NotStarted { not_started: &not_started });
    Ok(not_started)
}
