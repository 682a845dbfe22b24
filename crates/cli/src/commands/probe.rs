//! A judged comparison of the two systems of a plan: what commands search with.

use std::path::Path;

use dyno_judge::{ComparedSystem, GateOutcome, Rule, TestComparison, compare};
use dyno_lab::{NotStarted, Plan};
use dyno_report::check_trials;
use dyno_stats::Margin;
use dyno_store::{Outcome, Run, RunChoice, RunId, Store};

use super::run::{self, RunFlags};

/// How the comparisons of a search are made and judged.
pub(super) struct Prober<'a> {
    pub(super) flags: &'a RunFlags,
    pub(super) bar: Bar<'a>,
}

/// How a comparison is judged.
#[derive(Clone, Copy)]
pub(super) struct Bar<'a> {
    /// The step that is compared.
    pub(super) test: &'a str,
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
    /// The test of the two systems; none if none was run.
    pub(super) test: Option<TestComparison>,
    /// The first failure of a trial of the second system.
    pub(super) failure: Option<String>,
}

impl Prober<'_> {
    /// Runs a plan of two systems and judges it. None if the user stopped it.
    pub(super) fn compare(&self, plan: &Plan, resume: bool) -> anyhow::Result<Option<Compared>> {
        match run::measure(plan, self.flags, resume)?.filter(|outcome| !outcome.interrupted) {
            Some(outcome) => Ok(Some(self.bar.judge(&self.flags.results.path, outcome.run)?)),
            None => Ok(None),
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
            anyhow::bail!("run {} has {} systems where a comparison has two", run.id, run.systems.len());
        };
        let subject = |system| ComparedSystem { run: &run, checks: &checks, system };
        let rule = Rule {
            steps: vec![self.test.to_owned()],
            alpha: self.alpha,
            margin: self.margin,
            ..Rule::default()
        };
        let mut judgement = compare(&[(subject(&base.id), subject(&candidate.id))], &rule);
        let tests = judgement.comparisons.pop().map(|comparison| comparison.tests);
        Ok(Compared {
            run: run.id,
            seconds: run.finished_at_ms.map_or(0.0, |end| (end - run.record.started_at_ms) as f64 / 1000.0),
            not_started: failures(&run)
                .find(|(_, message)| NotStarted::is_of(message))
                .map(|it| it.1.to_owned()),
            failure: failures(&run).find(|(system, _)| *system == candidate.id).map(|it| it.1.to_owned()),
            outcome: judgement.outcome,
            test: tests.into_iter().flatten().next(),
        })
    }
}

/// Systems and messages of the trials that failed.
fn failures(run: &Run) -> impl Iterator<Item = (&str, &str)> {
    run.trials.iter().filter_map(|trial| match &trial.record.outcome {
        Outcome::Failed { message, .. } => Some((trial.record.system_id.as_str(), message.as_str())),
        Outcome::Completed => None,
    })
}
