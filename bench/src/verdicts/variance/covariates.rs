//! Covariates of a round: what a run records about each system's trial besides its rate, such as stolen CPU time.

use dyno_judge::TestComparison;
use dyno_store::{Run, TrialRecord, Usage};

use super::middle;
use super::regression::{Fit, fit};

/// Computes a covariate of a round, a difference between the candidate's trial (first) and the base's trial.
type Covariate = fn(&TrialRecord, &TrialRecord) -> Option<f64>;

/// The covariates. How long a server waits for a CPU would be a covariate, but it is not recorded; context switches are
/// used in its place.
const COVARIATES: [(&str, &[Covariate]); 4] = [
    ("steal", &[steal]),
    ("server CPU time per operation", &[cpu]),
    ("context switches per operation", &[switches]),
    ("all three", &[steal, cpu, switches]),
];

/// How well a covariate explains the ratios in the tests of a run.
pub(super) struct Found {
    covariate: &'static str,
    fits: Vec<Fit>,
}

impl Found {
    pub(super) fn row(&self, run: &str) -> [String; 5] {
        let of = |figure: fn(&Fit) -> f64| middle(&self.fits.iter().map(figure).collect::<Vec<_>>());
        [
            run.to_owned(),
            self.fits.len().to_string(),
            self.covariate.to_owned(),
            of(|fit| fit.explained),
            of(|fit| fit.variance),
        ]
    }
}

pub(super) fn of_run(run: &Run, tests: &[(String, TestComparison)]) -> Vec<Found> {
    let base = run.systems.iter().find(|system| system.is_base).map_or("", |system| system.id.as_str());
    let found = COVARIATES.map(|(covariate, parts)| Found {
        covariate,
        fits: tests
            .iter()
            .filter_map(|(candidate, test)| of_test(run, [base, candidate], test, parts))
            .collect(),
    });
    found.into_iter().filter(|found| !found.fits.is_empty()).collect()
}

fn of_test(
    run: &Run,
    [base, candidate]: [&str; 2],
    test: &TestComparison,
    parts: &[Covariate],
) -> Option<Fit> {
    let trial = |system: &str, round: u32| {
        let mut trials = run.trials.iter().map(|trial| &trial.record);
        trials.find(|trial| {
            (trial.system_id.as_str(), &trial.step_id, trial.clients, trial.round)
                == (system, &test.step, test.clients, round)
        })
    };
    let row = |round: u32| -> Option<Vec<f64>> {
        let (base, own) = (trial(base, round)?, trial(candidate, round)?);
        parts.iter().map(|part| part(own, base)).collect()
    };
    let rounds = test.rounds.iter().filter_map(|round| Some((round.ratio.ln(), row(round.round)?)));
    let (values, covariates): (Vec<f64>, Vec<Vec<f64>>) = rounds.unzip();
    fit(&values, &covariates)
}

/// The difference between the trials in the share of the host's CPU time that the hypervisor gave to other guests.
fn steal(own: &TrialRecord, base: &TrialRecord) -> Option<f64> {
    let share = |usage: &Usage| {
        let parts = [
            usage.host_user_cpu_us?,
            usage.host_system_cpu_us?,
            usage.host_iowait_cpu_us?,
            usage.host_steal_cpu_us?,
            usage.host_idle_cpu_us?,
        ];
        Some(usage.host_steal_cpu_us? as f64 / parts.iter().sum::<u64>().max(1) as f64)
    };
    Some(share(&own.usage)? - share(&base.usage)?)
}

fn cpu(own: &TrialRecord, base: &TrialRecord) -> Option<f64> {
    let cpu = |usage: &Usage| Some(usage.server_user_cpu_us? + usage.server_system_cpu_us?);
    ln_ratio_per_operation(own, base, cpu)
}

fn switches(own: &TrialRecord, base: &TrialRecord) -> Option<f64> {
    ln_ratio_per_operation(own, base, |usage| usage.server_context_switches)
}

fn ln_ratio_per_operation(
    own: &TrialRecord,
    base: &TrialRecord,
    of: impl Fn(&Usage) -> Option<u64>,
) -> Option<f64> {
    let ln = |trial: &TrialRecord| {
        let operations = trial.measured.as_ref()?.counts.operations;
        let ratio = of(&trial.usage)? as f64 / operations as f64;
        (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
    };
    Some(ln(own)? - ln(base)?)
}
