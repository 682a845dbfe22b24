//! The figures of a claim in each round.

use std::collections::BTreeMap;

use dyno_stats::geometric_mean;

use super::parse::{Call, Expression, Operator, Sentence};
use super::resolve::Resolved;
use crate::compare::pair::SystemTrials;
use crate::effects::joins::rates_when_joined;
use crate::trial::evidence::Evidence;

/// The figures of all calls in each round, in the order of the calls from left to right. A round is left out if a call
/// has no figure in it.
pub(super) fn figures(sentence: &Sentence, resolved: &[Resolved], evidence: &Evidence<'_>) -> Vec<Vec<f64>> {
    let calls = sentence.sides.iter().flat_map(Expression::calls);
    let of_calls: Vec<BTreeMap<u32, f64>> =
        calls.zip(resolved).map(|(call, resolved)| by_round(call, resolved, evidence)).collect();
    let Some(first) = of_calls.first() else { return Vec::new() };
    let of_round = |round: &u32| of_calls.iter().map(|call| call.get(round).copied()).collect();
    first.keys().filter_map(of_round).collect()
}

/// A call's figure in each round in which all its tests have a figure. For several tests, the call's figure is the
/// geometric mean of the tests' figures.
fn by_round(call: &Call, resolved: &Resolved, evidence: &Evidence<'_>) -> BTreeMap<u32, f64> {
    let of_tests: Vec<BTreeMap<u32, f64>> =
        resolved.tests.iter().map(|test| of_test(call, resolved, test, evidence)).collect();
    let Some(first) = of_tests.first() else { return BTreeMap::new() };
    let mean = |round: &u32| {
        let figures: Option<Vec<f64>> = of_tests.iter().map(|test| test.get(round).copied()).collect();
        let figure = match figures?.as_slice() {
            [one] => *one,
            several => geometric_mean(several)?,
        };
        Some((*round, figure))
    };
    first.keys().filter_map(mean).collect()
}

/// A call's figure in a test, by round: the value of one system, or the ratio of two systems. The ratio is computed
/// from slices if the trials have slices.
fn of_test(
    call: &Call,
    resolved: &Resolved,
    (step, clients): &(String, u32),
    evidence: &Evidence<'_>,
) -> BTreeMap<u32, f64> {
    if let Some(joined) = call.joined {
        return when_joined(resolved, (step, *clients), joined, evidence);
    }
    let part = |system: &String| SystemTrials::of(evidence, step, *clients, system);
    match resolved.systems.as_slice() {
        [above, below] => call.measure.ratios(part(above), part(below)),
        systems => systems.first().map(|system| call.measure.values(part(system))).unwrap_or_default(),
    }
}

/// A call's figure by round, from only the part of the test in which this many background clients have joined.
fn when_joined(
    resolved: &Resolved,
    test: (&str, u32),
    joined: u32,
    evidence: &Evidence<'_>,
) -> BTreeMap<u32, f64> {
    let rates = |system: &String| rates_when_joined(evidence, test, system, joined);
    match resolved.systems.as_slice() {
        [above, below] => {
            let below = rates(below);
            let ratio = |(round, rate): (u32, f64)| Some((round, rate / below.get(&round)?));
            rates(above).into_iter().filter_map(ratio).collect()
        }
        systems => systems.first().map(rates).unwrap_or_default(),
    }
}

/// The value of a side in a round. `figures` begins with the figures of the side's own calls. The figures of other
/// calls may follow. `None` if the value is not finite.
pub(super) fn evaluate(side: &Expression, figures: &[f64]) -> Option<f64> {
    let value = match side {
        Expression::Number(number) => *number,
        Expression::Call(_) => *figures.first()?,
        Expression::Binary { operator, left, right } => {
            let of_right = &figures[left.calls().len()..];
            let (left, right) = (evaluate(left, figures)?, evaluate(right, of_right)?);
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide => left / right,
            }
        }
    };
    value.is_finite().then_some(value)
}
