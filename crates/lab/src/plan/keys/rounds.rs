//! Numbers of rounds, and what is done between the steps of a round.

use dyno_stats::{CONFIDENCE, Margin, ROUNDS_MIN};
use serde::Deserialize;

use crate::plan::Step;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Above0, At, Whole};

/// Error probability of all verdicts of a plan together.
const ALPHA: f64 = 1.0 - CONFIDENCE;
/// Upper limit of all numbers of rounds in a plan. It catches typing errors.
const ROUNDS_MAX: u64 = 1000;
/// Default of `rounds_max`.
pub(in crate::plan) const UNTIL_DECIDED: u64 = 30;

/// How many rounds a run has. In each round, every system gets a fresh instance and goes through all steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounds {
    Fixed(u32),
    /// As many rounds as a time budget allows. The first rounds measure the cost of restarts and the variances. From
    /// the cost and the variances, the number of rounds and the seconds of trials are computed.
    Budget {
        /// Duration of the whole run, in seconds.
        seconds: f64,
    },
    /// Rounds until every candidate has a verdict.
    UntilDecided(Decision),
}

/// The rule by which a run with `rounds = "until-decided"` ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Upper limit of rounds.
    pub rounds_max: u32,
    /// Error probability of all looks (analyses between rounds) together. It is 0.05, or less if several comparisons
    /// divide 0.05 among them.
    pub alpha: f64,
    /// The least difference that matters.
    pub margin: Margin,
}

impl Decision {
    /// Returns a decision with the default margin and error probability.
    pub fn within(rounds_max: u32) -> Self {
        Self { rounds_max, alpha: ALPHA, margin: Margin::least() }
    }
}

impl Rounds {
    /// Returns the upper limit of rounds of a run.
    pub fn max(self) -> u32 {
        match self {
            Self::Fixed(rounds) => rounds,
            Self::Budget { .. } => ROUNDS_MAX as u32,
            Self::UntilDecided(decision) => decision.rounds_max,
        }
    }

    /// Returns the error probability of all verdicts together.
    pub(in crate::plan) fn alpha(self) -> f64 {
        match self {
            Self::Fixed(_) | Self::Budget { .. } => ALPHA,
            Self::UntilDecided(decision) => decision.alpha,
        }
    }
}

/// Whether a run with `rounds = "until-decided"` stops measuring a test once that test is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(transparent)]
pub struct LeaveDecided(pub bool);

impl Default for LeaveDecided {
    fn default() -> Self {
        Self(true)
    }
}

/// What is done to the systems between the steps of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub enum BetweenSteps {
    /// Nothing. Caches and tables stay as the previous step left them.
    Keep,
    /// Restart each server: cold caches, the same tables.
    Restart,
    /// Restore each system's data as it was after the load, and restart its server.
    Restore,
}

impl BetweenSteps {
    /// Returns the default of `between_steps` for a plan with these steps. A step that replays traffic needs its
    /// data restored, because a replay behaves differently on data that it has changed.
    pub(in crate::plan) fn of(steps: &[Step]) -> Self {
        if steps.iter().any(|step| step.traffic.is_some()) { Self::Restore } else { Self::Keep }
    }
}

/// The plan's key `rounds`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::plan) enum RoundsKey {
    #[serde(rename = "until-decided")]
    UntilDecided,
    #[serde(rename = "a whole number")]
    #[cfg_attr(test, schemars(untagged))]
    Fixed(RoundsNumber),
}

/// A number of rounds.
pub(in crate::plan) type RoundsNumber = Whole<1, ROUNDS_MAX>;

/// The plan's key `rounds_max`. A verdict needs at least `ROUNDS_MIN` rounds.
pub(in crate::plan) type RoundsMax = Whole<{ ROUNDS_MIN as u64 }, ROUNDS_MAX>;

/// Reads the plan's keys `rounds` and `rounds_max`, or `budget_seconds`.
pub(in crate::plan) fn rounds(
    rounds: Option<At<RoundsKey>>,
    max: Option<At<RoundsMax>>,
    budget: Option<At<Above0>>,
) -> Result<Rounds, Mistake> {
    let both = |key, other| format!("the plan has `{key}` and `{other}`; leave one of them out");
    let rounds = match (rounds, budget) {
        (None, None) => return Err("the plan needs a key `rounds` or `budget_seconds`".to_owned().into()),
        (Some(rounds), Some(budget)) if budget.span().start > rounds.span().start => {
            return Err(budget.wrong(both("budget_seconds", "rounds")));
        }
        (Some(rounds), Some(_)) => return Err(rounds.wrong(both("rounds", "budget_seconds"))),
        (None, Some(budget)) => Rounds::Budget { seconds: budget.into_inner().0 },
        (Some(rounds), None) => match rounds.into_inner() {
            RoundsKey::Fixed(rounds) => Rounds::Fixed(rounds.0 as u32),
            RoundsKey::UntilDecided => {
                let max = max.map_or(UNTIL_DECIDED, |max| max.into_inner().0);
                return Ok(Rounds::UntilDecided(Decision::within(max as u32)));
            }
        },
    };
    let pointless =
        "`rounds_max` has no effect without `rounds = \"until-decided\"`; add that, or leave this out";
    max.map_or(Ok(rounds), |max| Err(max.wrong(pointless.to_owned())))
}
