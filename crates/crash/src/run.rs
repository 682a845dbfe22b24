//! The crash test: load, crash, recovery and check, repeatedly.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dyno_settings::{Loss, Product, Promise, SystemFacts};

use crate::check::check;
use crate::clients::contents::create;
use crate::clients::ledger::Ledger;
use crate::clients::session::{Session, SessionError};
use crate::error::CrashError;
use crate::load::{LoadEnd, load_and_crash};
use crate::options::{CrashOptions, CrashedSystem, Failover};
use crate::report::{Crash, CrashReport, Losses, Verdict};
use crate::subjects::place::Place;
use crate::subjects::replicated::ReplicatedSubject;
use crate::subjects::server::ServerSubject;
use crate::subjects::sqlite::SqliteSubject;
use crate::subjects::subject::Subject;

/// Observes a crash test.
pub trait Observer {
    /// The system has recovered, and is about to be checked. The session is logged in to it.
    fn recovered(&mut self, _number: u32, _session: &mut dyn Session) {}

    /// A crash was checked.
    fn checked(&mut self, _crash: &Crash) {}
}

/// Crashes a system as often as the options say. Ends early when `stop` is set or the system becomes unusable.
///
/// # Errors
/// The system cannot be started or loaded, or the folder or volume for its data cannot be made. The effects of
/// crashes on the system are in the report and are no error.
pub fn crash_test(
    system: &CrashedSystem,
    options: &CrashOptions,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<CrashReport, CrashError> {
    let place = Place::create(system, options)?;
    // Declared after `place`, so that the system is dropped before the folder or volume of its data.
    let mut subject = start(system, &place)?;
    let mut test = Test {
        report: empty_report(system, options, &*subject)?,
        ledgers: (0..options.clients).map(Ledger::new).collect(),
        epoch: Instant::now(),
        place: &place,
        options,
    };
    make_tables(&*subject, options.clients).map_err(CrashError::Tables)?;
    subject.settle()?;
    place.flush()?;
    for number in 1..=options.crashes {
        if !test.crash_once(number, &mut *subject, stop, observer)? {
            break;
        }
    }
    test.report.conclude();
    Ok(test.report)
}

/// Crashes primaries as often as the options say. Each primary has new replicas, and after the crash one of them
/// becomes the primary. Stops early when `stop` is set or a failover fails. Only processes are killed: the power is
/// not cut, whatever kind of crash the options name.
///
/// # Errors
/// The system cannot be started or loaded, it cannot have the requested replicas, or it was stopped before the first
/// crash.
pub fn failover_test(
    system: &CrashedSystem,
    failover: &Failover,
    options: &CrashOptions,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<CrashReport, CrashError> {
    check_version(system, failover)?;
    let place = Place::OfServer;
    let mut test: Option<Test<'_>> = None;
    for number in 1..=options.crashes {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut subject = ReplicatedSubject::start(system, failover)?;
        let test = if let Some(test) = &mut test {
            test
        } else {
            let mut report = empty_report(system, options, &subject)?;
            report.promise = promise(failover, &subject.variables()?);
            report.failover = Some(failover.into());
            test.insert(Test { report, ledgers: Vec::new(), epoch: Instant::now(), place: &place, options })
        };
        test.ledgers = (0..options.clients).map(Ledger::new).collect();
        make_tables(&subject, options.clients).map_err(CrashError::Tables)?;
        subject.settle()?;
        if !test.crash_once(number, &mut subject, stop, observer)? {
            break;
        }
    }
    let Some(Test { mut report, .. }) = test else { return Err(CrashError::Stopped) };
    report.is_stopped |= stop.load(Ordering::Relaxed);
    report.conclude();
    Ok(report)
}

fn check_version(system: &CrashedSystem, failover: &Failover) -> Result<(), CrashError> {
    let entry = &system.installation.entry;
    if !entry.family.has_server() {
        return Err(CrashError::NoReplicas { entry: entry.to_string() });
    }
    match failover.oldest_version(entry.family) {
        Some(oldest) if !entry.is_at_least(oldest, 0) => Err(CrashError::NoFailover {
            entry: entry.to_string(),
            oldest,
            is_cut_off: !failover.cut_off.is_zero(),
        }),
        _ => Ok(()),
    }
}

/// Returns which commits may be lost in a failover. If commits wait for replicas, none may be lost. Otherwise the
/// newest commits may be lost, because perhaps no replica has received them. PostgreSQL's commits wait for replicas
/// only if `synchronous_commit` has one of the values below.
fn promise(failover: &Failover, variables: &BTreeMap<String, String>) -> Promise {
    let waits = variables
        .get("synchronous_commit")
        .is_none_or(|value| ["on", "remote_write", "remote_apply"].contains(&value.as_str()));
    let loss = if failover.waits() && waits { Loss::Nothing } else { Loss::Last };
    Promise { loss, is_whole: true }
}

fn start(system: &CrashedSystem, place: &Place) -> Result<Box<dyn Subject>, CrashError> {
    Ok(match place.folder() {
        Some(folder) if !system.installation.entry.family.has_server() => {
            Box::new(SqliteSubject::start(system, folder)?)
        }
        folder => Box::new(ServerSubject::start(system, folder)?),
    })
}

fn empty_report(
    system: &CrashedSystem,
    options: &CrashOptions,
    subject: &dyn Subject,
) -> Result<CrashReport, CrashError> {
    let storage_engine = system.storage_engine.as_deref();
    let id = match storage_engine {
        Some(storage_engine) => format!("{}/{storage_engine}", system.installation.entry),
        None => system.installation.entry.to_string(),
    };
    let facts = SystemFacts {
        id: id.clone(),
        product: Product::of(&system.installation.entry, storage_engine)?,
        variables: subject.variables()?,
        asked: system.settings.clone(),
        limits: None,
    };
    Ok(CrashReport {
        system: id,
        version: subject.version(),
        kind: options.kind,
        durability: facts.durability(),
        promise: facts.promise(options.kind),
        clients: options.clients,
        seed: options.seed,
        crashes: Vec::new(),
        acknowledged: 0,
        losses: Losses::default(),
        recovery_ms_max: None,
        failure: None,
        is_stopped: false,
        failover: None,
        verdict: Verdict::None,
    })
}

fn make_tables(subject: &dyn Subject, clients: u32) -> Result<(), SessionError> {
    let mut session = subject.session()?;
    create(clients).iter().try_for_each(|sql| session.execute(sql))
}

struct Test<'a> {
    report: CrashReport,
    ledgers: Vec<Ledger>,
    epoch: Instant,
    place: &'a Place,
    options: &'a CrashOptions,
}

impl Test<'_> {
    /// Loads, crashes, recovers and checks. Returns whether to continue.
    fn crash_once(
        &mut self,
        number: u32,
        subject: &mut dyn Subject,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<bool, CrashError> {
        let (options, course) = (self.options, (number, self.epoch));
        match load_and_crash(subject, self.place, &mut self.ledgers, options, course, stop)? {
            LoadEnd::Stopped => {
                self.report.is_stopped = true;
                Ok(false)
            }
            LoadEnd::Died => {
                self.fail(format!("ended by itself before crash {number}"), &last_words(subject));
                Ok(false)
            }
            LoadEnd::Crashed { at, acknowledged, cut } => {
                let mut crash = Crash::new(number, acknowledged, cut);
                let outcome = self.come_back(&mut crash, at, subject, observer);
                observer.checked(&crash);
                self.report.crashes.push(crash);
                let is_useful = outcome.is_ok();
                if let Err((failure, log)) = outcome {
                    self.fail(format!("{failure} after crash {number}"), &log);
                }
                Ok(is_useful)
            }
        }
    }

    /// Starts the system again, and records what survived. An error is a pair: what went wrong, and details.
    fn come_back(
        &mut self,
        crash: &mut Crash,
        crash_at: Duration,
        subject: &mut dyn Subject,
        observer: &mut dyn Observer,
    ) -> Result<(), (&'static str, String)> {
        let lost = |error: CrashError| ("did not come back", format!(": {error}"));
        self.place.power_on().map_err(|error| ("lost its file system", format!(": {error}")))?;
        let start = Instant::now();
        subject.recover().map_err(lost)?;
        let mut session = subject.session().map_err(|error| lost(CrashError::Login(error)))?;
        crash.recovery_ms = start.elapsed().as_secs_f64() * 1e3;
        observer.recovered(crash.number, &mut *session);
        let unreadable = |error: SessionError| {
            ("has tables that cannot be read", format!(": {error}{}", last_words(subject)))
        };
        let checked = check(&mut *session, &mut self.ledgers, crash_at, self.epoch.elapsed());
        let checked = checked.map_err(unreadable)?;
        (crash.losses, crash.findings) = (checked.losses, checked.told);
        crash.faults = subject.faults(&mut *session).map_err(unreadable)?;
        Ok(())
    }

    /// Records why the system is unusable.
    fn fail(&mut self, failure: String, details: &str) {
        self.report.failure = Some(failure + details);
    }
}

/// Returns the end of a system's log, to be shown below the failure.
fn last_words(subject: &dyn Subject) -> String {
    let lines: String = subject.log_tail().iter().flat_map(|line| ["\n    ", line]).collect();
    if lines.is_empty() { lines } else { format!("; its last words:{lines}") }
}
