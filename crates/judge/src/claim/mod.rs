//! Claims: what a plan says will be found, in a form that can be judged.
//!
//! `ratio(myrocks, innodb, throughput) > 2 at iops = 5000`. `docs/statistics.md` describes the language.

mod error;
mod evidence;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;
mod token;

use dyno_stats::{CONFIDENCE, Interval, PAIRS_MIN};
use dyno_store::{ClaimRecord, Run, StepRecord, SystemRecord};
use serde::Serialize;

use crate::TrialChecks;
use evidence::Evidence;
use parse::{Expression, Relation, Sentence};

pub use error::{ClaimError, Problem};

/// A claim that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    text: String,
    sentence: Sentence,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// The claim.
    pub claim: String,
    /// The verdict.
    pub state: ClaimState,
    /// What the first side that was measured came to; none if it was not measured.
    pub measured: Option<f64>,
    /// Where the true figure lies; exact for a single ratio or value of one test, otherwise a bootstrap's. None with
    /// too few trials.
    pub interval: Option<Interval>,
    /// Trials that it rests on: those of the test with the fewest, that all its systems have completed.
    pub trials: usize,
    /// Why it is inconclusive; none if the figures say so.
    pub reason: Option<String>,
}

/// A run's claim with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim<'a> {
    /// The claim as the plan has it, with the published figure.
    pub record: &'a ClaimRecord,
    /// What became of it.
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

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The whole interval is as claimed.
    Supported,
    /// The whole interval is otherwise.
    Refuted,
    /// Neither, or too few trials.
    Inconclusive,
}

impl Claim {
    /// Reads a claim.
    ///
    /// # Errors
    /// The text is no claim; the error has the column.
    pub fn parse(text: &str) -> Result<Self, ClaimError> {
        Ok(Self { text: text.to_owned(), sentence: parse::parse(text)? })
    }

    /// Checks that a plan has what the claim names, before anything is measured.
    ///
    /// # Errors
    /// A system, step or number of clients is not there, or a ratio is of several tests.
    pub fn check(&self, systems: &[SystemRecord], steps: &[StepRecord]) -> Result<(), ClaimError> {
        resolve::resolve(&self.sentence, systems, steps).map(|_| ())
    }

    /// Judges it by a run. `checks` has the trials' courses, of which variation is a part; without
    /// them a claim about it is inconclusive.
    ///
    /// # Errors
    /// As of [`Self::check`].
    pub fn judge(&self, run: &Run, checks: &TrialChecks) -> Result<ClaimResult, ClaimError> {
        let resolved = resolve::resolve(&self.sentence, &run.systems, &run.steps)?;
        let evidence = Evidence::gather(&self.sentence, &resolved, run, checks);
        let sides = self.sides(&evidence, run.record.seed);
        let measured = sides.iter().find(|side| !side.expression.calls().is_empty());
        let trials = evidence.trials();
        let relations = self.sentence.relations.iter().zip(sides.windows(2));
        let states: Vec<ClaimState> = relations
            .map(|(relation, pair)| holds(*relation, &pair[0], &pair[1], &evidence, run.record.seed))
            .collect();
        let state = if states.contains(&ClaimState::Refuted) {
            ClaimState::Refuted
        } else if states.iter().all(|state| *state == ClaimState::Supported) {
            ClaimState::Supported
        } else {
            ClaimState::Inconclusive
        };
        Ok(ClaimResult {
            claim: self.text.clone(),
            state,
            measured: measured.and_then(|side| side.value),
            interval: measured.and_then(|side| side.interval),
            trials,
            reason: reason(trials, measured.and_then(|side| side.value)),
        })
    }

    fn sides(&self, evidence: &Evidence, seed: u64) -> Vec<Side<'_>> {
        let whole = evidence.whole();
        let mut first = 0;
        let sides = self.sentence.sides.iter().map(|expression| {
            let calls = expression.calls().len();
            let value = evidence.evaluate(expression, first, &whole);
            let side = Side {
                expression,
                first,
                value,
                interval: (calls > 0 && evidence.trials() >= PAIRS_MIN)
                    .then(|| {
                        let evaluate = |drawn: &[Vec<usize>]| evidence.evaluate(expression, first, drawn);
                        evidence
                            .exact(expression, first, CONFIDENCE)
                            .or_else(|| evidence.bootstrap(seed, CONFIDENCE, evaluate))
                    })
                    .flatten(),
            };
            first += calls;
            side
        });
        sides.collect()
    }
}

/// A side of a relation with what it comes to.
struct Side<'a> {
    expression: &'a Expression,
    /// Calls in the sides before it.
    first: usize,
    value: Option<f64>,
    interval: Option<Interval>,
}

impl Side<'_> {
    fn is_constant(&self) -> bool {
        self.expression.calls().is_empty()
    }
}

/// Whether a relation holds for all of the interval, for none of it, or neither.
fn holds(
    relation: Relation,
    left: &Side<'_>,
    right: &Side<'_>,
    evidence: &Evidence,
    seed: u64,
) -> ClaimState {
    // Where the left side less the right one lies.
    let difference = match (left.is_constant(), right.is_constant()) {
        (true, true) => left.value.zip(right.value).map(|(left, right)| (left - right, left - right)),
        (false, true) => left.interval.zip(right.value).map(|(it, bound)| (it.low - bound, it.high - bound)),
        (true, false) => left.value.zip(right.interval).map(|(bound, it)| (bound - it.high, bound - it.low)),
        (false, false) if evidence.trials() < PAIRS_MIN => None,
        (false, false) => {
            let difference = |drawn: &[Vec<usize>]| {
                let left = evidence.evaluate(left.expression, left.first, drawn)?;
                Some(left - evidence.evaluate(right.expression, right.first, drawn)?)
            };
            evidence.bootstrap(seed, CONFIDENCE, difference).map(|it| (it.low, it.high))
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

fn reason(trials: usize, measured: Option<f64>) -> Option<String> {
    match (trials, measured) {
        (0, _) | (_, None) => Some("not measured".to_owned()),
        (trials, _) if trials < PAIRS_MIN => {
            Some(format!("{trials} of the {PAIRS_MIN} trials that an interval takes"))
        }
        _ => None,
    }
}
