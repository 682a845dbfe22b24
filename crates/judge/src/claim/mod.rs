//! Claims: expected results of a plan, as expressions.
//!
//! `ratio(myrocks, innodb, throughput, update, 16) > 2`. `docs/reference/claims.md` describes the language.

mod error;
mod figures;
mod measure;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;
mod token;

use std::collections::BTreeSet;

use dyno_stats::{CONFIDENCE, Centre, Interval, Method, centre_of_rounds};
use dyno_store::{ClaimRecord, Run, StepRecord, SystemRecord};
use serde::Serialize;

use crate::TrialChecks;
use crate::compare::rule::ROUNDS_WITH_VERDICT_MIN;
use crate::trial::evidence::Evidence;
use crate::trial::in_force::not_in_force;
use figures::{evaluate, figures};
use parse::{Relation, Sentence};
use resolve::Resolved;

pub use error::{ClaimError, Problem};

/// A parsed claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    text: String,
    sentence: Sentence,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    pub claim: String,
    pub state: ClaimState,
    /// The measured value over all rounds. If several sides of the claim are measured, it is the value of the first of
    /// them. `None` if the value was not measured.
    pub measured: Option<f64>,
    /// Confidence interval for the true value of `measured`; `None` with one round.
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of rounds in which all systems of the claim completed all tests of the claim.
    pub rounds: usize,
    /// Explains why the claim is inconclusive, if it has too few rounds or if its systems are the same. `None`
    /// otherwise.
    pub reason: Option<String>,
}

/// A claim of a run's plan, with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim<'a> {
    /// The claim from the plan, with the published figure.
    pub record: &'a ClaimRecord,
    pub result: Result<ClaimResult, ClaimError>,
}

/// Judges every claim of a run, by [`Claim::judge`].
pub fn judge_claims<'a>(run: &'a Run, checks: &TrialChecks) -> Vec<JudgedClaim<'a>> {
    let judge = |record: &'a ClaimRecord| JudgedClaim {
        record,
        result: Claim::parse(&record.expression).and_then(|claim| claim.judge(run, checks)),
    };
    run.record.claims.iter().map(judge).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The whole interval agrees with the claim.
    Supported,
    /// The whole interval contradicts the claim.
    Refuted,
    /// Only a part of the interval agrees with the claim, or there are too few rounds.
    Inconclusive,
}

impl Claim {
    /// Parses a claim.
    ///
    /// # Errors
    /// If the text is not a claim. The error contains the column.
    pub fn parse(text: &str) -> Result<Self, ClaimError> {
        Ok(Self { text: text.to_owned(), sentence: parse::parse(text)? })
    }

    /// The counters that the claim names, with or without their source.
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        let calls = self.sentence.sides.iter().flat_map(parse::Expression::calls);
        calls.filter_map(|call| call.measure.counter())
    }

    /// Checks that the plan has everything that the claim names. This needs no measurements.
    ///
    /// # Errors
    /// If a system, step or client count does not exist, or if a ratio or value refers to several tests.
    pub fn check(&self, systems: &[SystemRecord], steps: &[StepRecord]) -> Result<(), ClaimError> {
        resolve::resolve(&self.sentence, systems, steps).map(|_| ())
    }

    /// Judges the claim by a run. `checks` contains the variation of each trial. Without it, a claim about variation is
    /// inconclusive.
    ///
    /// # Errors
    /// As for [`Self::check`].
    pub fn judge(&self, run: &Run, checks: &TrialChecks) -> Result<ClaimResult, ClaimError> {
        let resolved = resolve::resolve(&self.sentence, &run.systems, &run.steps)?;
        let evidence = Evidence::of(run, checks);
        let figures = figures(&self.sentence, &resolved, &evidence);
        let sides = self.sides(&figures);
        let first = sides.iter().find(|side| !side.is_constant);
        let measured = first.and_then(Side::centre);
        let rounds = first.map_or(0, |side| side.values.len());
        let relations = self.sentence.relations.iter().zip(sides.windows(2));
        let states: Vec<ClaimState> =
            relations.map(|(relation, pair)| holds(*relation, &pair[0], &pair[1])).collect();
        let same = same_systems(&resolved, run, &evidence);
        let state = if same.is_some() {
            ClaimState::Inconclusive
        } else if states.contains(&ClaimState::Refuted) {
            ClaimState::Refuted
        } else if states.iter().all(|state| *state == ClaimState::Supported) {
            ClaimState::Supported
        } else {
            ClaimState::Inconclusive
        };
        Ok(ClaimResult {
            claim: self.text.clone(),
            state,
            measured: measured.map(|centre| centre.value),
            interval: measured.and_then(|centre| centre.interval),
            method: measured.map_or(Method::None, |centre| centre.method),
            rounds,
            reason: same.or_else(|| reason(rounds)),
        })
    }

    /// The value of each side in each round.
    fn sides(&self, figures: &[Vec<f64>]) -> Vec<Side> {
        let mut first = 0;
        let sides = self.sentence.sides.iter().map(|expression| {
            let calls = expression.calls().len();
            let values = figures.iter().map(|round| evaluate(expression, &round[first..]));
            // If a round has no value, for example because of a division by 0, there is no interval over all
            // rounds.
            let values: Option<Vec<f64>> = values.collect();
            first += calls;
            Side { is_constant: calls == 0, values: values.unwrap_or_default() }
        });
        sides.collect()
    }
}

/// The values of one side of a relation, by round.
struct Side {
    is_constant: bool,
    values: Vec<f64>,
}

impl Side {
    fn centre(&self) -> Option<Centre> {
        centre(&self.values)
    }
}

/// The centre over rounds. If all values are positive, it is computed from their logarithms. A ratio then has the value
/// and the interval that reports show.
fn centre(values: &[f64]) -> Option<Centre> {
    if values.iter().any(|value| *value <= 0.0) {
        return centre_of_rounds(values, CONFIDENCE);
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let found = centre_of_rounds(&logarithms, CONFIDENCE)?;
    Some(Centre { value: found.value.exp(), interval: found.interval.map(Interval::exp), ..found })
}

/// The state of a relation: supported if the whole interval satisfies it, refuted if the whole interval contradicts
/// it.
fn holds(relation: Relation, left: &Side, right: &Side) -> ClaimState {
    let of_rounds =
        |centre: Option<Centre>| centre?.interval.filter(|_| left.values.len() >= ROUNDS_WITH_VERDICT_MIN);
    // The interval of the left side minus the right side.
    let difference = match (left.is_constant, right.is_constant) {
        (false, true) => of_rounds(left.centre())
            .zip(right.values.first())
            .map(|(it, bound)| (it.low - bound, it.high - bound)),
        (true, false) => of_rounds(right.centre())
            .zip(left.values.first())
            .map(|(it, bound)| (bound - it.high, bound - it.low)),
        _ => {
            let differences: Vec<f64> =
                left.values.iter().zip(&right.values).map(|(left, right)| left - right).collect();
            of_rounds(centre_of_rounds(&differences, CONFIDENCE)).map(|it| (it.low, it.high))
        }
    };
    match (relation, difference) {
        (Relation::Greater, Some((low, _))) if low > 0.0 => ClaimState::Supported,
        (Relation::Greater, Some((_, high))) if high < 0.0 => ClaimState::Refuted,
        (Relation::Less, Some((_, high))) if high < 0.0 => ClaimState::Supported,
        (Relation::Less, Some((low, _))) if low > 0.0 => ClaimState::Refuted,
        _ => ClaimState::Inconclusive,
    }
}

/// A message if two systems of the claim are the same, because the settings in which they differ are not in force.
fn same_systems(resolved: &[Resolved], run: &Run, evidence: &Evidence<'_>) -> Option<String> {
    let named: BTreeSet<&str> =
        resolved.iter().flat_map(|call| call.systems.iter().map(String::as_str)).collect();
    let told = not_in_force(run, &evidence.in_force);
    let mut pairs = told.iter().filter(|told| named.contains(told.system.as_str())).filter_map(|told| {
        let earlier = told.same_as.iter().find(|earlier| named.contains(earlier.as_str()))?;
        Some(format!(
            "{earlier} and {} are the same system: the settings in which they differ are not in force",
            told.system
        ))
    });
    pairs.next()
}

fn reason(rounds: usize) -> Option<String> {
    match rounds {
        0 => Some("no round has all its figures".to_owned()),
        1 => Some("one round: it holds for these servers only".to_owned()),
        rounds if rounds < ROUNDS_WITH_VERDICT_MIN => {
            Some(format!("{rounds} of the {ROUNDS_WITH_VERDICT_MIN} rounds that a verdict needs"))
        }
        _ => None,
    }
}
