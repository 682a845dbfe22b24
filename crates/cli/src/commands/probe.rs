//! A judged comparison of the two systems of a plan: what commands search with.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::bail;
use dyno_judge::{
    ComparedSystem, DisturbedTests, Finding, GateOutcome, GroupMean, ProbeEffect, Rule, TestComparison,
    compare,
};
use dyno_lab::{NotStarted, Plan};
use dyno_report::check_trials;
use dyno_stats::{Margin, median};
use dyno_store::{Outcome, Run, RunChoice, RunId, Store, SystemRecord};

use super::made::{Made, MadeRuns, is_last};
use super::run::{self, RunFlags};
use crate::failure::DisturbedHost;
use crate::output;

/// How the comparisons of a search are made and judged.
pub(super) struct Prober<'a> {
    pub(super) flags: &'a RunFlags,
    pub(super) bar: Bar<'a>,
}

/// How a comparison is judged.
#[derive(Clone, Copy)]
pub(super) struct Bar<'a> {
    /// The steps that are compared.
    pub(super) tests: &'a [String],
    /// The error probability of each comparison.
    pub(super) alpha: f64,
    pub(super) margin: Margin,
}

/// A comparison that was made.
pub(super) struct Compared {
    pub(super) run: RunId,
    /// Time that its run took, in seconds.
    pub(super) seconds: f64,
    /// Why a system did not start; none if all did.
    pub(super) not_started: Option<String>,
    pub(super) outcome: GateOutcome,
    /// The two systems, with what their servers have reported.
    pub(super) systems: Vec<SystemRecord>,
    /// Median time from the first trial of a round to that of the next, in seconds; none of one round.
    pub(super) round_seconds: Option<f64>,
    /// The tests of the two systems.
    tests: Vec<TestComparison>,
    /// The mean over them.
    mean: Option<GroupMean>,
    /// The first failure of a trial of the second system.
    pub(super) failure: Option<String>,
    /// Whether a trial failed that had nothing of what is compared: of the first system, or of either if they are the same.
    failed_by_accident: bool,
    /// Set if it decides nothing because neighbours disturbed it.
    disturbed: Option<DisturbedTests>,
}

impl Prober<'_> {
    /// Runs a plan of two systems and judges it. None if the user stopped it.
    ///
    /// # Errors
    /// It cannot be run, or neighbours disturbed it so that nothing is decided.
    pub(super) fn compare(&self, plan: &Plan, resume: bool) -> anyhow::Result<Option<Compared>> {
        // With the same random numbers in all comparisons, luck in one would be luck in the one that confirms it.
        let seed = self.flags.seed.map(|seed| of_plan(seed, &plan.text));
        let flags = RunFlags { seed, needs_all_systems: true, ..self.flags.clone() };
        match run::measure(plan, &flags, resume)?.filter(|outcome| !outcome.interrupted) {
            Some(outcome) => {
                let compared = self.bar.judge(&self.flags.results.path, outcome.run)?;
                match compared.disturbed {
                    Some(found) => Err(DisturbedHost { run: outcome.run, found }.into()),
                    None => Ok(Some(compared)),
                }
            }
            None => Ok(None),
        }
    }

    /// The same, but a comparison that an earlier start of the command has made is judged as it is, and one that was
    /// stopped goes on. One that failed by something else than what is compared, or that neighbours disturbed, is made again. `what` says what is compared.
    pub(super) fn compare_once(
        &self,
        plan: &Plan,
        made: &MadeRuns,
        what: &str,
    ) -> anyhow::Result<Option<Compared>> {
        match made.of(plan) {
            Some(Made::Complete(run)) => {
                let compared = self.bar.judge(&self.flags.results.path, run)?;
                let why = match (compared.failed_by_accident, compared.disturbed) {
                    (true, _) => "failed",
                    (false, Some(_)) => "was disturbed",
                    (false, None) => return Ok(Some(compared)),
                };
                output::tell(&format!("comparing {what} again, which {why} in run {run}"));
                self.compare(plan, false)
            }
            Some(Made::Interrupted(run)) if is_last(&self.flags.results.path, &plan.name, run)? => {
                output::tell(&format!("going on to compare {what}"));
                self.compare(plan, true)
            }
            Some(Made::Interrupted(_)) | None => {
                output::tell(&format!("comparing {what}"));
                self.compare(plan, false)
            }
        }
    }
}

impl Bar<'_> {
    /// Judges a run of two systems.
    pub(super) fn judge(&self, results: &Path, run: RunId) -> anyhow::Result<Compared> {
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
            failures(&run).find(|(_, message)| NotStarted::is_of(message)).map(|it| it.1.to_owned());
        let failure = failures(&run).find(|(system, _)| *system == candidate.id).map(|it| it.1.to_owned());
        let are_same = base.requested_settings == candidate.requested_settings
            && base.confinement == candidate.confinement
            && base.name == candidate.name;
        let failed_by_accident = failures(&run).any(|(system, _)| are_same || system == base.id);
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
    /// What the second system makes of the first: of one test its ratio, of several their geometric mean. Without an
    /// interval if one of them cannot be judged. None if the second system failed.
    ///
    /// # Errors
    /// The first system, which is named for it, has no result.
    pub(super) fn effect(&self, base: &str) -> anyhow::Result<Option<ProbeEffect>> {
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

    /// The logarithms of the ratios of the rounds of the first test.
    pub(super) fn ln_ratios(&self) -> Vec<f64> {
        self.tests.first().iter().flat_map(|test| &test.rounds).map(|round| round.ratio.ln()).collect()
    }
}

/// Time that a run took, in seconds, without the pauses before it was resumed.
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

/// A seed for a plan: that of the command and the plan's text, mixed by FNV-1a (RFC 9923).
fn of_plan(seed: u64, text: &str) -> u64 {
    text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Systems and messages of the trials that failed.
fn failures(run: &Run) -> impl Iterator<Item = (&str, &str)> {
    run.trials.iter().filter_map(|trial| match &trial.record.outcome {
        Outcome::Failed { message, .. } => Some((trial.record.system_id.as_str(), message.as_str())),
        Outcome::Completed => None,
    })
}
