//! A comparison of two systems, judged from its run.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use dyno_judge::{
    ComparedSystem, DisturbedTests, Finding, GateOutcome, GroupMean, ProbeEffect, Rule, TestComparison,
    check_trials, compare,
};
use dyno_stats::{Margin, median};
use dyno_store::{FailureKind, Outcome, Run, RunChoice, RunId, Store, SystemRecord};

/// How a comparison is judged.
#[derive(Clone, Copy)]
pub(crate) struct Bar<'a> {
    /// The ids of the steps that are compared.
    pub(crate) tests: &'a [String],
    /// The error probability of one comparison.
    pub(crate) alpha: f64,
    pub(crate) margin: Margin,
}

/// A comparison and its result.
pub(crate) struct Compared {
    pub(crate) run: RunId,
    /// Duration of the comparison's run, in seconds.
    pub(crate) seconds: f64,
    /// Why a system did not start; `None` if both started.
    pub(crate) not_started: Option<String>,
    pub(crate) outcome: GateOutcome,
    /// The two systems, with the settings that their servers reported.
    pub(crate) systems: Vec<SystemRecord>,
    /// Median time from the beginning of a round's first trial to the beginning of the next round's first trial, in
    /// seconds. `None` if there is only one round.
    pub(crate) round_seconds: Option<f64>,
    /// The result of each test.
    tests: Vec<TestComparison>,
    /// The mean of the ratios of all tests.
    mean: Option<GroupMean>,
    /// The first failure of a trial of the second system.
    pub(crate) failure: Option<String>,
    /// Whether a trial failed for a reason other than the difference between the systems. This is so if a trial of
    /// the first system failed, or if any trial failed although the two systems are identical.
    pub(super) failed_by_accident: bool,
    /// The tests that neighbours (other processes or guests of the host) disturbed too much for a verdict. `None` if
    /// the comparison has a verdict or a failure.
    pub(super) disturbed: Option<DisturbedTests>,
}

impl Bar<'_> {
    /// Judges a run of two systems.
    pub(crate) fn judge(&self, results: &Path, run: RunId) -> anyhow::Result<Compared> {
        let store = Store::open_read_only(results)?;
        let run = store.load_run(RunChoice::Id(run))?;
        let checks = check_trials(&store, &run)?;
        let [base, candidate] = &run.systems[..] else {
            bail!("run {} has {} systems where a comparison has two", run.id, run.systems.len());
        };
        let subject = |system| ComparedSystem { run: &run, checks: &checks, system };
        let rule =
            Rule { steps: self.tests.to_vec(), alpha: self.alpha, margin: self.margin, ..Rule::default() };
        let mut judgement = compare(&[(subject(&base.id), subject(&candidate.id))], &rule);
        let disturbed = judgement.disturbed();
        let (tests, mean) = match judgement.comparisons.pop() {
            Some(comparison) => (comparison.tests, comparison.overall),
            None => (Vec::new(), None),
        };
        let not_started =
            failures(&run).find(|it| it.kind == FailureKind::Start).map(|it| it.message.to_owned());
        let failure = failures(&run).find(|it| it.system == candidate.id).map(|it| it.message.to_owned());
        let are_same = base.requested_settings == candidate.requested_settings
            && base.confinement == candidate.confinement
            && base.name == candidate.name;
        let failed_by_accident = failures(&run).any(|it| are_same || it.system == base.id);
        Ok(Compared {
            run: run.id,
            seconds: seconds(&run),
            failed_by_accident,
            disturbed: disturbed.filter(|_| not_started.is_none() && failure.is_none()),
            not_started,
            failure,
            outcome: judgement.outcome,
            round_seconds: self.round_seconds(&run),
            systems: run.systems,
            tests,
            mean,
        })
    }

    fn round_seconds(&self, run: &Run) -> Option<f64> {
        let mut begins: BTreeMap<u32, i64> = BTreeMap::new();
        for trial in run.trials.iter().map(|trial| &trial.record) {
            if self.tests.contains(&trial.step_id) {
                let begin = begins.entry(trial.round).or_insert(trial.started_at_ms);
                *begin = trial.started_at_ms.min(*begin);
            }
        }
        let begins: Vec<i64> = begins.into_values().collect();
        let times: Vec<f64> = begins.windows(2).map(|two| (two[1] as f64 - two[0] as f64) / 1000.0).collect();
        median(&times)
    }
}

impl Compared {
    /// Returns the effect of the second system against the first: the ratio of a single test, or the geometric mean
    /// of several tests. The effect has no interval if a test cannot be judged. Returns `None` if the second system
    /// failed.
    ///
    /// # Errors
    /// The first system has no result. The message calls that system `base`.
    pub(crate) fn effect(&self, base: &str) -> anyhow::Result<Option<ProbeEffect>> {
        if self.failure.is_some() {
            return Ok(None);
        }
        let is_judged = self.tests.iter().all(|test| test.finding != Finding::Unjudged);
        let found = match (&self.tests[..], &self.mean) {
            ([only], _) => only.ratio.map(|ratio| (ratio, only.interval)),
            (tests, Some(mean)) if mean.tests == tests.len() => Some((mean.ratio, mean.interval)),
            _ => None,
        };
        let Some((ratio, interval)) = found else {
            let run = self.run;
            bail!("run {run} has no result of {base}; `dyno results show {run}` says why");
        };
        Ok(Some(ProbeEffect { ratio, interval: interval.filter(|_| is_judged) }))
    }

    /// The logarithms of the first test's ratios, one for each round.
    pub(crate) fn ln_ratios(&self) -> Vec<f64> {
        self.tests.first().iter().flat_map(|test| &test.rounds).map(|round| round.ratio.ln()).collect()
    }
}

/// Duration of a run in seconds, without the pauses before each resumption.
fn seconds(run: &Run) -> f64 {
    let Some(end) = run.finished_at_ms else { return 0.0 };
    let begins = run.resumptions.iter().map(|resumption| resumption.resumed_at_ms);
    let pauses = begins.map(|begin| {
        let ends = run.trials.iter().map(|trial| {
            let seconds = trial.record.measured.as_ref().map_or(0.0, |measured| measured.seconds);
            trial.record.started_at_ms.saturating_add((seconds * 1000.0) as i64)
        });
        begin.saturating_sub(ends.filter(|end| *end <= begin).max().unwrap_or(run.record.started_at_ms))
            as f64
    });
    (end.saturating_sub(run.record.started_at_ms) as f64 - pauses.sum::<f64>()) / 1000.0
}

/// A trial that failed.
struct Failure<'a> {
    system: &'a str,
    kind: FailureKind,
    message: &'a str,
}

fn failures(run: &Run) -> impl Iterator<Item = Failure<'_>> {
    run.trials.iter().filter_map(|trial| match &trial.record.outcome {
        Outcome::Failed { kind, message, .. } => {
            Some(Failure { system: &trial.record.system_id, kind: *kind, message })
        }
        Outcome::Completed => None,
    })
}
