//! Checks the trials that a run recorded as good: whether they can be good, given the injected faults.

use super::inject::{Injected, STOPPED};
use super::kind::Kind;
use super::ledger::Trial;
use super::plans::{ROWS, SECONDS, SYSTEMS};

/// A trial's measuring may begin later than its recorded start, but never earlier. Therefore the measuring cannot have
/// ended before this share of its planned time has passed since the recorded start.
const CERTAIN: f64 = 0.8;
/// If a server was stopped during a good trial, the trial must show a stall of at least this share of the stop's
/// length. Also, every good trial must have measured at least this share of its planned seconds.
const SHOWN: f64 = 0.5;

/// Returns the trials that count as good although the fault must have affected them, one line each.
pub(super) fn wrong(injected: &Injected, trials: &[Trial]) -> Vec<String> {
    let hit: Vec<&Trial> = trials.iter().filter(|trial| covers(trial, injected.began_ms)).collect();
    let completed = || hit.iter().filter(|trial| trial.is_completed);
    let of_system = |trial: &&&Trial| injected.system.is_none_or(|system| system == trial.system);
    let wrong: Vec<&Trial> = match injected.kind {
        kind if kind.hits_all() => completed().copied().collect(),
        Kind::ServerKilled => completed().filter(of_system).copied().collect(),
        // It is not known which system's load was killed. Therefore it is enough if any of the step's trials in this
        // round has failed.
        Kind::LoadKilled => {
            let has_failed = |trial: &Trial| {
                let beside =
                    trials.iter().filter(|other| (&other.step, other.round) == (&trial.step, trial.round));
                beside.into_iter().any(|other| !other.is_completed)
            };
            hit.iter().filter(|trial| !has_failed(trial)).copied().collect()
        }
        Kind::ServerStopped => {
            let is_told = |trial: &Trial| shows_stall(trial) || fits_beside(injected.began_ms, trial, trials);
            completed().filter(of_system).filter(|trial| !is_told(trial)).copied().collect()
        }
        _ => Vec::new(),
    };
    let lines = wrong.iter().map(|trial| {
        let Trial { id, system, step, .. } = trial;
        format!("trial {id} ({step}, {system}) is completed, and {} fell into it", injected.kind.words())
    });
    injected.complaint.iter().cloned().chain(lines).collect()
}

/// Finds trials that count as good although their recorded figures show that they cannot be. Returns a line for each.
pub(super) fn contradictions(trials: &[Trial]) -> Vec<String> {
    let of = |trial: &Trial| {
        let is_load = trial.step == "load";
        let what = if is_load && trial.operations != i64::from(ROWS) {
            format!("has {} rows of {ROWS}", trial.operations)
        } else if !is_load && trial.operations == 0 {
            "has no operation".to_owned()
        } else if !is_load && trial.seconds < SECONDS * SHOWN {
            format!("has {} s of {SECONDS}", trial.seconds)
        } else {
            return None;
        };
        Some(format!("trial {} ({}, {}) is completed, and {what}", trial.id, trial.step, trial.system))
    };
    trials.iter().filter(|trial| trial.is_completed).filter_map(of).collect()
}

/// Whether the moment is certainly before the end of the trial's measuring, and not before the trial's recorded start.
/// In the step `turns`, the measuring takes longer, because the systems share the step's time.
fn covers(trial: &Trial, moment_ms: i64) -> bool {
    let systems = if trial.step == "turns" { f64::from(SYSTEMS) } else { 1.0 };
    let certain_ms = (SECONDS * systems * CERTAIN * 1000.0) as i64;
    trial.step != "load" && (trial.started_at_ms..trial.started_at_ms + certain_ms).contains(&moment_ms)
}

/// Whether the whole measuring of a trial may have been before or after the time in which the server was stopped. It
/// may have been after, because a trial makes its connections first, and the stop may have delayed only these.
fn fits_beside(stopped_ms: i64, trial: &Trial, trials: &[Trial]) -> bool {
    let measured_ms = (trial.seconds * 1000.0) as i64;
    let later = trials.iter().filter(|other| (&other.step, other.round) != (&trial.step, trial.round));
    let next = later.map(|other| other.started_at_ms).filter(|start| *start > trial.started_at_ms).min();
    let went_on_ms = stopped_ms + STOPPED.as_millis() as i64;
    stopped_ms - trial.started_at_ms >= measured_ms
        || next.is_none_or(|next| next - went_on_ms >= measured_ms)
}

fn shows_stall(trial: &Trial) -> bool {
    let stopped = STOPPED.as_secs_f64() * SHOWN;
    trial.gap_longest_seconds >= stopped || trial.latency_max_us / 1e6 >= stopped || trial.errors > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED_AT_MS: i64 = 10_000;

    fn trial(system: &str, step: &str, is_completed: bool) -> Trial {
        Trial {
            system: system.to_owned(),
            step: step.to_owned(),
            is_completed,
            seconds: SECONDS,
            operations: 100,
            started_at_ms: STARTED_AT_MS,
            ..Trial::default()
        }
    }

    fn fault(kind: Kind, system: Option<&'static str>) -> Injected {
        Injected { kind, began_ms: STARTED_AT_MS + 300, system, complaint: None, ends_dyno: false }
    }

    #[test]
    fn a_completed_trial_that_a_fault_fell_into_is_wrong() {
        let trials = [trial("mariadb", "turns", true), trial("postgres", "turns", false)];
        let wrong = |kind, system| wrong(&fault(kind, system), &trials).len();
        assert_eq!(wrong(Kind::DynoKilled, None), 1);
        assert_eq!(wrong(Kind::ServerKilled, Some("mariadb")), 1);
        assert_eq!(wrong(Kind::ServerKilled, Some("postgres")), 0);
        assert_eq!(wrong(Kind::LoadKilled, None), 0);
        assert_eq!(wrong(Kind::DataDiskFull, None), 0);
        // The trials of a step begin one after the other. Therefore the trial whose load was killed may have begun long
        // before the fault.
        let early = Trial { started_at_ms: STARTED_AT_MS - 2_000, ..trial("postgres", "turns", false) };
        let of_other = [trial("mariadb", "turns", true), early];
        assert_eq!(super::wrong(&fault(Kind::LoadKilled, None), &of_other).len(), 0);
        let none_failed = [trial("mariadb", "turns", true), trial("postgres", "turns", true)];
        assert_eq!(super::wrong(&fault(Kind::LoadKilled, None), &none_failed).len(), 2);
    }

    #[test]
    fn a_server_that_stood_still_has_to_show_it() {
        let quiet = trial("mariadb", "whole", true);
        let told = Trial { latency_max_us: 1_400_000.0, ..quiet.clone() };
        let fault = fault(Kind::ServerStopped, Some("mariadb"));
        let next = |after_ms| Trial {
            started_at_ms: STARTED_AT_MS + after_ms,
            round: 1,
            ..trial("mariadb", "turns", true)
        };
        assert_eq!(wrong(&fault, &[quiet.clone(), next(2_000)]).len(), 1);
        assert_eq!(wrong(&fault, &[told, next(2_000)]).len(), 0);
        // The trial was measured after the server had continued.
        assert_eq!(wrong(&fault, &[quiet, next(5_000)]).len(), 0);
    }

    #[test]
    fn a_trial_that_was_over_is_not_blamed() {
        let mut late = fault(Kind::ServerKilled, Some("mariadb"));
        late.began_ms = STARTED_AT_MS + 5_000;
        assert_eq!(wrong(&late, &[trial("mariadb", "turns", true)]).len(), 0);
    }

    #[test]
    fn figures_that_cannot_be_are_seen() {
        let whole = trial("mariadb", "whole", true);
        let empty = Trial { operations: 0, ..whole.clone() };
        let short = Trial { seconds: SECONDS / 10.0, ..whole.clone() };
        let load = Trial { operations: i64::from(ROWS) - 1, ..trial("mariadb", "load", true) };
        assert_eq!(contradictions(&[whole]).len(), 0);
        assert_eq!(contradictions(&[empty, short, load]).len(), 3);
    }
}
