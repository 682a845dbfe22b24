//! Sample checks of trials.

use dyno_judge::{Disturbance, Little, LittleVerdict, TrialCheck, TrialChecks};
use dyno_stats::{Level, Steadiness, Variation};
use dyno_store::{Outcome, Run, TrialRecord};

/// Checks of the completed trials. The rates of mysql56 vary least, and the rates of myrocks vary most. Some tests have
/// warnings.
pub(crate) fn checks(run: &Run) -> TrialChecks {
    let completed = run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    completed.map(|trial| (trial.id, check(&trial.record))).collect()
}

/// The rates, by second, of a step in which clients join after 3 s and 6 s, and of its background load.
fn rates(trial: &TrialRecord) -> Vec<f64> {
    let (of_system, noise) = (
        if trial.system_id == "maria" { 20_000.0 } else { 10_000.0 },
        1.0 + 0.001 * (f64::from(trial.round) - 1.0),
    );
    let rate: fn(usize, f64) -> f64 = match trial.step_id.as_str() {
        "mixed" => |second, full| full / [1.0, 2.0, 4.0][second / 3],
        "mixed.writers" => |second, _| [0.0, 400.0, 1_600.0][second / 3],
        _ => return Vec::new(),
    };
    (0..9).map(|second| rate(second, of_system * noise)).collect()
}

fn check(trial: &TrialRecord) -> TrialCheck {
    let coefficient = match trial.system_id.as_str() {
        "mysql56" => 0.021,
        "maria" => 0.034,
        _ => 0.143,
    };
    let disturbance = Disturbance { steal_share: 0.002, others_share: 0.011, cpus: 2, is_disturbed: false };
    let stalled = usize::from(trial.system_id == "myrocks" && trial.step_id == "read-write");
    let mut check = TrialCheck {
        steadiness: Some(Steadiness::Flat),
        level: Some(Level { change: 1.01, p: 0.4 }),
        variation: Some(Variation {
            coefficient,
            worst: 1.0 - 4.0 * coefficient,
            stalled,
            stalled_longest: stalled,
        }),
        samples: 60,
        effective_samples: 41.5,
        stall: None,
        little: Some(Little { busy_share: 0.993, verdict: LittleVerdict::Agrees }),
        disturbance: Some(disturbance),
        rates: rates(trial),
        course: super::disrupted::course(trial),
        limits: trial.limits.as_ref().map_or_else(Vec::new, |limits| limits.differences.clone()),
    };
    match (trial.step_id.as_str(), trial.system_id.as_str(), trial.clients, trial.round) {
        ("point-query", "maria", 1, 2 | 3) => {
            check.disturbance = Some(Disturbance { steal_share: 0.07, is_disturbed: true, ..disturbance });
        }
        ("update-nonindex", "myrocks", 1, 0) => {
            check.little = Some(Little { busy_share: 1.12, verdict: LittleVerdict::Impossible });
        }
        ("update-nonindex", "maria", 4, 1..) => {
            check.steadiness = Some(Steadiness::Warming { change: 0.9 });
            check.level = Some(Level { change: 9.3, p: 1e-6 });
        }
        ("read-write", "myrocks", 4, 5) => check.steadiness = Some(Steadiness::Slowing { change: -0.12 }),
        ("read-write", "myrocks", 4, _) => check.steadiness = Some(Steadiness::Sawtooth { period: 12 }),
        _ => {}
    }
    check
}
