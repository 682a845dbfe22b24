//! The figures that a claim rests on, drawn anew as a whole.

use std::collections::BTreeMap;

use dyno_stats::{Interval, RESAMPLES, SplitMix64, geometric_mean, median, median_interval};
use dyno_store::{Run, Trial};

use super::parse::{Call, Expression, Operator, Sentence};
use super::resolve::Resolved;
use crate::TrialChecks;
use crate::trials::Trials;

/// Each call's figures, by test. Within a test, place `i` of every call is of the trials of one number, so that what
/// is drawn together was measured together.
pub(super) struct Evidence {
    calls: Vec<Vec<Figures>>,
    /// Trials in each test.
    sizes: Vec<usize>,
}

/// A call's figures in a test: ratios, or values.
struct Figures {
    test: usize,
    values: Vec<f64>,
}

impl Evidence {
    /// Gathers the figures of trials that every call of their test has.
    pub(super) fn gather(
        sentence: &Sentence,
        resolved: &[Resolved],
        run: &Run,
        checks: &TrialChecks,
    ) -> Self {
        let trials = Trials::of(run);
        let calls: Vec<&Call> = sentence.sides.iter().flat_map(Expression::calls).collect();
        let mut tests: Vec<&(String, u32)> = resolved.iter().flat_map(|resolved| &resolved.tests).collect();
        tests.sort();
        tests.dedup();
        let place = |test: &(String, u32)| tests.binary_search(&test).unwrap_or_default();
        let mut figures: Vec<Vec<(usize, BTreeMap<u32, f64>)>> = Vec::new();
        for (call, resolved) in calls.iter().zip(resolved) {
            let of_test = |test| (place(test), by_number(call, resolved, test, &trials, checks));
            figures.push(resolved.tests.iter().map(of_test).collect());
        }
        let mut numbers: Vec<Option<Vec<u32>>> = vec![None; tests.len()];
        for (test, found) in figures.iter().flatten() {
            let common = match numbers[*test].take() {
                None => found.keys().copied().collect(),
                Some(numbers) => numbers.into_iter().filter(|number| found.contains_key(number)).collect(),
            };
            numbers[*test] = Some(common);
        }
        let numbers: Vec<Vec<u32>> = numbers.into_iter().map(Option::unwrap_or_default).collect();
        let aligned = |(test, found): (usize, BTreeMap<u32, f64>)| Figures {
            test,
            values: numbers[test].iter().map(|number| found[number]).collect(),
        };
        Self {
            calls: figures.into_iter().map(|call| call.into_iter().map(aligned).collect()).collect(),
            sizes: numbers.iter().map(Vec::len).collect(),
        }
    }

    /// Trials of the test with the fewest.
    pub(super) fn trials(&self) -> usize {
        self.sizes.iter().copied().min().unwrap_or(0)
    }

    /// The figures of all trials.
    pub(super) fn whole(&self) -> Vec<Vec<usize>> {
        self.sizes.iter().map(|size| (0..*size).collect()).collect()
    }

    /// What a side comes to with some of the trials; `first` is the number of calls before it. None if a figure is
    /// missing, or not positive in a mean.
    pub(super) fn evaluate(&self, side: &Expression, first: usize, drawn: &[Vec<usize>]) -> Option<f64> {
        match side {
            Expression::Number(number) => Some(*number),
            Expression::Call(_) => figure(&self.calls[first], drawn),
            Expression::Binary { operator, left, right } => {
                let right_first = first + left.calls().len();
                let (left, right) =
                    (self.evaluate(left, first, drawn)?, self.evaluate(right, right_first, drawn)?);
                let value = match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide => left / right,
                };
                value.is_finite().then_some(value)
            }
        }
    }

    /// The interval of a side that is one figure of one test: exact. None of any other.
    pub(super) fn exact(&self, side: &Expression, first: usize, confidence: f64) -> Option<Interval> {
        match (side, self.calls.get(first).map(Vec::as_slice)) {
            (Expression::Call(_), Some([figures])) => median_interval(&figures.values, confidence),
            _ => None,
        }
    }

    /// The percentile interval of any quantity of the evidence, with trials drawn anew within each test.
    pub(super) fn bootstrap(
        &self,
        seed: u64,
        confidence: f64,
        quantity: impl Fn(&[Vec<usize>]) -> Option<f64>,
    ) -> Option<Interval> {
        let mut random = SplitMix64::new(seed);
        let mut values = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            let draw = |size: &usize| (0..*size).map(|_| random.below(*size)).collect();
            let drawn: Vec<Vec<usize>> = self.sizes.iter().map(draw).collect();
            values.push(quantity(&drawn)?);
        }
        values.sort_by(f64::total_cmp);
        let tail = (values.len() as f64 * (1.0 - confidence) / 2.0) as usize;
        Some(Interval { low: values[tail], high: values[values.len() - 1 - tail], confidence })
    }
}

/// A call's figure with some of the trials.
fn figure(call: &[Figures], drawn: &[Vec<usize>]) -> Option<f64> {
    let medians: Option<Vec<f64>> = call
        .iter()
        .map(|figures| {
            let values: Vec<f64> = drawn[figures.test].iter().map(|at| figures.values[*at]).collect();
            median(&values)
        })
        .collect();
    match medians?.as_slice() {
        [one] => Some(*one),
        several => geometric_mean(several),
    }
}

/// A call's figures in a test, by the number of the trial.
fn by_number(
    call: &Call,
    resolved: &Resolved,
    (step, clients): &(String, u32),
    trials: &Trials<'_>,
    checks: &TrialChecks,
) -> BTreeMap<u32, f64> {
    let value = |trial: &Trial| {
        let variation = checks.get(&trial.id).and_then(|check| check.variation.as_ref());
        call.quantity.of(&trial.record, variation)
    };
    let of = |system: &String| -> BTreeMap<u32, f64> {
        let trials = trials.completed(step, *clients, system).iter();
        trials.filter_map(|trial| Some((trial.record.trial, value(trial)?))).collect()
    };
    match resolved.systems.as_slice() {
        [above, below] => {
            let below = of(below);
            of(above)
                .into_iter()
                .filter_map(|(number, above)| {
                    let below = below.get(&number).filter(|below| **below > 0.0)?;
                    Some((number, above / below))
                })
                .collect()
        }
        systems => systems.first().map(of).unwrap_or_default(),
    }
}
