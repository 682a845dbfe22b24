//! From trials to verdicts.

use dyno_stats::{
    Better, Margin, PAIRS_MIN, Ratios, Verdict, median, more_pairs, rules_out_regression, verdict,
};
use dyno_store::{Run, StepRecord};

use super::difference::differences;
use super::group::{group_means, mean};
use super::{Comparison, Finding, GateOutcome, Judgement, Side, Subject, TestComparison};
use crate::evidence::{Estimate, are_interleaved, estimate, paired_ratios, unpaired_ratios};
use crate::noise;
use crate::rule::Rule;
use crate::trials::{Trials, tests};

/// Compares each candidate with its base: `(base, candidate)`.
///
/// Trials of one run are paired by their number. Trials of two runs are paired only if the runs took turns;
/// otherwise medians are compared, with an interval by bootstrap. All tests of all candidates are one matrix, for the
/// number of which alarms are corrected.
pub fn compare(subjects: &[(Subject<'_>, Subject<'_>)], rule: &Rule) -> Judgement {
    let measured: Vec<Vec<Measured<'_>>> =
        subjects.iter().map(|(base, candidate)| measure(*base, *candidate, rule)).collect();
    let p: Vec<f64> = measured
        .iter()
        .flatten()
        .filter_map(|test| test.estimate.map(|estimate| (estimate.p() * rule.looks as f64).min(1.0)))
        .collect();
    let mut adjusted = rule.correction.adjust(&p).into_iter().zip(p.iter().copied());
    let alarm_confidence = rule.confidence_among(p.len());
    let comparisons: Vec<Comparison> = subjects
        .iter()
        .zip(measured)
        .map(|((base, candidate), measured)| {
            let judge = |test: &Measured<'_>| {
                let p = test.estimate.and_then(|_| adjusted.next());
                test.judge(p, alarm_confidence, rule)
            };
            Comparison {
                base: side(*base),
                candidate: side(*candidate),
                differences: differences(base.run, candidate.run),
                tests: measured.iter().map(judge).collect(),
                groups: group_means(&measured, rule, base.run.record.seed),
                overall: mean("", measured.iter(), rule, base.run.record.seed),
            }
        })
        .collect();
    Judgement { rule: rule.clone(), outcome: outcome(&comparisons), comparisons }
}

fn outcome(comparisons: &[Comparison]) -> GateOutcome {
    let judged: Vec<&TestComparison> = comparisons
        .iter()
        .flat_map(|comparison| &comparison.tests)
        .filter(|test| test.finding != Finding::Unjudged)
        .collect();
    let is_worse = |test: &&TestComparison| matches!(test.finding, Finding::Regressed | Finding::Failed);
    if judged.iter().any(is_worse) {
        GateOutcome::SomeRegressed
    } else if !judged.is_empty() && judged.iter().all(|test| test.rules_out_regression) {
        GateOutcome::NoneRegressed
    } else {
        GateOutcome::NotEnoughEvidence
    }
}

fn side(subject: Subject<'_>) -> Side {
    let system = subject.run.systems.iter().find(|system| system.id == subject.system);
    Side {
        run: subject.run.id.0,
        system: subject.system.to_owned(),
        name: system.map(|system| system.name.clone()).unwrap_or_default(),
        engine_version: system.and_then(|system| system.engine_version.clone()),
    }
}

/// What became of a system's trials in a test.
#[derive(Clone, Copy)]
enum State {
    /// At least one completed.
    Completed,
    /// None completed, and at least one failed.
    Failed,
    /// There was none yet.
    Missing,
}

impl State {
    fn of(trials: &Trials<'_>, step: &StepRecord, clients: u32, system: &str) -> Self {
        if !trials.completed(&step.id, clients, system).is_empty() {
            Self::Completed
        } else if trials.failed(&step.id, clients, system) > 0 {
            Self::Failed
        } else {
            Self::Missing
        }
    }
}

/// A test before it is judged.
pub(super) struct Measured<'a> {
    pub(super) step: &'a StepRecord,
    clients: u32,
    base: Option<f64>,
    candidate: Option<f64>,
    base_state: State,
    candidate_state: State,
    margin: Margin,
    pub(super) ratios: Option<Ratios>,
    estimate: Option<Estimate>,
}

fn measure<'a>(base: Subject<'a>, candidate: Subject<'a>, rule: &Rule) -> Vec<Measured<'a>> {
    let (base_trials, candidate_trials) = (Trials::of(base.run), Trials::of(candidate.run));
    let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let is_one_run = std::ptr::eq(base.run, candidate.run);
    let measure = |(step, clients): (&'a StepRecord, u32)| {
        let base_own = base_trials.completed(&step.id, clients, base.system);
        let own = candidate_trials.completed(&step.id, clients, candidate.system);
        let ratios = if is_one_run || are_interleaved(base_own, own) {
            paired_ratios(base_own, own, rule.quantity)
        } else {
            unpaired_ratios(base_own, own, rule.quantity)
        };
        let margin = |run: &Run, trials: &Trials<'_>| noise::margin(run, trials, &step.id, clients, rule);
        let (of_base, of_own) = (margin(base.run, &base_trials), margin(candidate.run, &candidate_trials));
        let margin = if of_own > of_base { of_own } else { of_base };
        let value = |trials: &[&dyno_store::Trial]| {
            let values = trials.iter().filter_map(|trial| rule.quantity.of(&trial.record, None));
            median(&values.collect::<Vec<_>>())
        };
        Measured {
            step,
            clients,
            base: value(base_own),
            candidate: value(own),
            base_state: State::of(&base_trials, step, clients, base.system),
            candidate_state: State::of(&candidate_trials, step, clients, candidate.system),
            margin,
            estimate: ratios
                .as_ref()
                .and_then(|ratios| estimate(ratios, margin, rule.confidence(), base.run.record.seed)),
            ratios,
        }
    };
    tests(base.run).filter(|(step, _)| is_wanted(step)).map(measure).collect()
}

impl Measured<'_> {
    /// `p` is (adjusted, alone).
    fn judge(&self, p: Option<(f64, f64)>, alarm_confidence: f64, rule: &Rule) -> TestComparison {
        let finding = self.finding(p.map(|(adjusted, _)| adjusted), rule);
        let pairs = self.ratios.as_ref().map_or(0, Ratios::len);
        let better = rule.quantity.better();
        let interval = self.estimate.and_then(|estimate| estimate.interval);
        let lacks = finding == Finding::NotEnoughEvidence;
        TestComparison {
            group: self.step.group.clone(),
            step: self.step.id.clone(),
            clients: self.clients,
            operation: self.step.operation,
            finding,
            base: self.base,
            candidate: self.candidate,
            ratio: self.estimate.map(|estimate| estimate.ratio),
            interval,
            pairs,
            is_paired: matches!(self.ratios, Some(Ratios::Paired(_))),
            margin: self.margin,
            p: p.map(|(_, alone)| alone),
            p_adjusted: p.map(|(adjusted, _)| adjusted),
            more_pairs: lacks.then(|| self.more_pairs(pairs, alarm_confidence, rule)).flatten(),
            rules_out_regression: rules_out_regression(interval, self.margin, better),
        }
    }

    fn finding(&self, p_adjusted: Option<f64>, rule: &Rule) -> Finding {
        let Some((estimate, p)) = self.estimate.zip(p_adjusted) else { return self.without_estimate() };
        if self.ends_by_itself_once() {
            return Finding::Unjudged;
        }
        let is_above = estimate.p_above < estimate.p_below;
        if p <= rule.alpha {
            return if is_above == (rule.quantity.better() == Better::Higher) {
                Finding::Improved
            } else {
                Finding::Regressed
            };
        }
        match verdict(estimate.interval, self.margin, rule.quantity.better()) {
            Verdict::Same => Finding::Same,
            _ => Finding::NotEnoughEvidence,
        }
    }

    fn without_estimate(&self) -> Finding {
        match (self.base_state, self.candidate_state) {
            (State::Completed, State::Failed) => Finding::Failed,
            (State::Failed, _) | (State::Completed, State::Completed) => Finding::Unjudged,
            _ if self.ends_by_itself_once() => Finding::Unjudged,
            _ => Finding::NotEnoughEvidence,
        }
    }

    /// A load is measured as often as the data set is made, which may be too seldom by design.
    fn ends_by_itself_once(&self) -> bool {
        self.step.seconds.is_none() && (self.step.trials as usize) < PAIRS_MIN
    }

    /// A verdict comes with an alarm that holds among all tests, or with sameness, which each test shows alone.
    fn more_pairs(&self, pairs: usize, alarm_confidence: f64, rule: &Rule) -> Option<usize> {
        let Some(estimate) = self.estimate else {
            return more_pairs(1.0, None, pairs, self.margin, rule.confidence());
        };
        let is_beyond = estimate.ratio > self.margin.high() || estimate.ratio < self.margin.low();
        let confidence = if is_beyond { alarm_confidence } else { rule.confidence() };
        let interval = self
            .ratios
            .as_ref()
            .and_then(|ratios| crate::evidence::estimate(ratios, self.margin, confidence, 0))
            .and_then(|estimate| estimate.interval);
        more_pairs(estimate.ratio, interval, pairs, self.margin, confidence)
    }
}
