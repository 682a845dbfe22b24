//! Crash tests of a run's systems, after its rounds.

use dyno_crash::{Crash, CrashReport, CrashedSystem, Observer as CrashObserver, Verdict, crash_test};
use dyno_engine::Installation;
use dyno_settings::CrashKind;
use dyno_store::{CrashCause, CrashRecord, CrashVerdict};

use super::session::RunSession;
use crate::plan::{CrashTests, Source, System};
use crate::run::error::RunError;
use crate::run::observer::{Event, Observer};

/// Largest number of differences and faults that are kept for a system.
const FINDINGS_MAX: usize = 20;

impl RunSession<'_> {
    /// Crashes each system that the plan names and that was not crashed before. Ends early when the run is stopped.
    ///
    /// # Errors
    /// The results file cannot be read or written. A system that cannot be tested is recorded in the results file.
    pub(crate) fn crash_tests(&mut self) -> Result<(), RunError> {
        let (plan, installed) = (self.plan, self.installed);
        let Some(tests) = &plan.crash else { return Ok(()) };
        let done = self.store.crash_tests(self.run)?;
        for (system, installation) in plan.systems.iter().zip(installed) {
            if let Some(test) = done.iter().find(|test| test.system_id == system.id) {
                self.note_failure(test);
                continue;
            }
            let Ok(installation) = installation else { continue };
            if !tests.crashes(system) {
                continue;
            }
            if self.options.is_stopped() {
                self.outcome.interrupted = true;
                break;
            }
            let record = match self.crash(tests, system, installation.as_ref()) {
                Ok(report) if report.is_stopped => {
                    self.outcome.interrupted = true;
                    break;
                }
                Ok(report) => of_report(&system.id, &report),
                Err(failure) => not_begun(&system.id, tests.kind, failure),
            };
            self.note_failure(&record);
            self.store.put_crash_test(self.run, &record)?;
        }
        Ok(())
    }

    fn note_failure(&mut self, test: &CrashRecord) {
        if test.verdict == CrashVerdict::Broken || test.failure.is_some() {
            self.outcome.failed_crash_tests.push(test.system_id.clone());
        }
    }

    /// Crashes a system. Returns an error with the reason if the test could not begin.
    fn crash(
        &mut self,
        tests: &CrashTests,
        system: &System,
        installation: Option<&Installation>,
    ) -> Result<CrashReport, String> {
        let cache = &self.options.cache;
        let installation = match (installation, &system.source) {
            (Some(installation), _) => installation.clone(),
            // The engine is built in, so nothing is fetched.
            (None, Source::Catalogue { entry, .. }) => {
                dyno_engine::fetch(entry, cache, &mut |_| {}).map_err(|error| error.to_string())?
            }
            (None, _) => return Err("dyno did not start it".to_owned()),
        };
        let has_server = installation.entry.family.has_server();
        let crashed = CrashedSystem {
            installation,
            storage_engine: system.source.storage_engine().map(str::to_owned),
            settings: system.settings.clone(),
            data_root: cache.runs(),
            sqlite_program: self.options.driver_program.clone(),
        };
        let mut progress =
            CrashProgress { system: &system.id, crashes: tests.crashes, observer: &mut *self.observer };
        progress.tell(0);
        let options = tests.options(has_server, self.seed);
        crash_test(&crashed, &options, self.options.stop, &mut progress).map_err(|error| error.to_string())
    }
}

/// Tells the run's observer of crashes.
struct CrashProgress<'a> {
    system: &'a str,
    crashes: u32,
    observer: &'a mut dyn Observer,
}

impl CrashProgress<'_> {
    fn tell(&mut self, checked: u32) {
        let Self { system, crashes, .. } = *self;
        self.observer.observe(&Event::Crashing { system, checked, crashes });
    }
}

impl CrashObserver for CrashProgress<'_> {
    fn checked(&mut self, crash: &Crash) {
        self.tell(crash.number);
    }
}

/// The record of a finished test.
fn of_report(system: &str, report: &CrashReport) -> CrashRecord {
    let losses = &report.losses;
    let findings = report.crashes.iter().flat_map(|crash| {
        let number = crash.number;
        crash.faults.iter().chain(&crash.findings).map(move |it| format!("crash {number}: {it}"))
    });
    CrashRecord {
        system_id: system.to_owned(),
        kind: cause(report.kind),
        promise: report.promise.to_string(),
        clients: report.clients,
        crashes: report.crashes.len() as u32,
        acknowledged: report.acknowledged,
        lost: losses.lost,
        lost_age_ms_max: losses.lost_age_ms_max,
        torn: losses.torn,
        resurrected: losses.resurrected,
        in_doubt_kept: losses.in_doubt_kept,
        in_doubt_gone: losses.in_doubt_gone,
        recovery_ms_max: report.recovery_ms_max,
        verdict: match report.verdict {
            Verdict::Kept => CrashVerdict::Kept,
            Verdict::Allowed => CrashVerdict::Allowed,
            Verdict::Broken => CrashVerdict::Broken,
            Verdict::None => CrashVerdict::None,
        },
        failure: report.failure.clone(),
        findings: findings.take(FINDINGS_MAX).collect(),
    }
}

fn cause(kind: CrashKind) -> CrashCause {
    match kind {
        CrashKind::Process => CrashCause::Process,
        CrashKind::Power => CrashCause::Power,
    }
}

/// The record of a test that could not begin.
fn not_begun(system: &str, kind: CrashKind, failure: String) -> CrashRecord {
    CrashRecord {
        system_id: system.to_owned(),
        kind: cause(kind),
        failure: Some(failure),
        ..CrashRecord::default()
    }
}
