//! How often all systems are started anew and go through all steps, and what is done to them in between.

use std::ops::Range;

use dyno_stats::{CONFIDENCE, Looks, Margin, ROUNDS_MIN};

use super::error::Problem;
use super::table::{Mistake, Table, Value};

/// Rounds of a budget that are run before it is known what rounds cost and how much they vary.
const PILOT: u32 = 3;
/// The error that the verdicts of a plan share.
const ALPHA: f64 = 1.0 - CONFIDENCE;
/// A limit that keeps a typing error from asking for years of work.
const ROUNDS_MAX: u32 = 1000;
const ROUNDS: Range<u64> = 1..ROUNDS_MAX as u64 + 1;
/// Rounds after which a plan that says `until-decided` gives up: unless it says otherwise, and from as many as a verdict
/// takes.
const UNTIL_DECIDED: u64 = 30;
const UNTIL_DECIDED_RANGE: Range<u64> = ROUNDS_MIN as u64..ROUNDS_MAX as u64 + 1;

const BETWEEN: [(&str, BetweenSteps); 3] =
    [("keep", BetweenSteps::Keep), ("restart", BetweenSteps::Restart), ("restore", BetweenSteps::Restore)];

/// How many rounds a plan has. In a round every system gets a fresh instance and goes through all steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounds {
    /// So many.
    Fixed(u32),
    /// As many as a budget of time allows: the first rounds show what restarts cost and how much instances and slices
    /// vary, and decide on the number of rounds and on their seconds.
    Budget {
        /// Time of the whole run.
        seconds: f64,
    },
    /// Until every candidate's verdict is there.
    UntilDecided(Decision),
}

/// How sure verdicts are that end a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Rounds after which what is open stays open.
    pub rounds_max: u32,
    /// The chance that any verdict is wrong, of all looks together: 0.05, or a part of it where other comparisons have
    /// theirs.
    pub alpha: f64,
    /// The least difference that matters.
    pub margin: Margin,
}

impl Decision {
    /// With the usual margin and chance to err.
    pub fn within(rounds_max: u32) -> Self {
        Self { rounds_max, alpha: ALPHA, margin: Margin::least() }
    }

    /// When the rounds are judged; none if there are too few for that.
    pub fn looks(self) -> Option<Looks> {
        Looks::new(self.rounds_max as usize, 1.0 - self.alpha)
    }
}

impl Rounds {
    /// The fewest rounds of a run: as planned, those of a budget's pilot, or those before which nothing is decided.
    pub fn min(self) -> u32 {
        match self {
            Self::Fixed(rounds) => rounds,
            Self::Budget { .. } => PILOT,
            Self::UntilDecided(decision) => {
                decision.looks().map_or(decision.rounds_max, |looks| looks.at[0] as u32)
            }
        }
    }

    /// The most rounds of a run.
    pub fn max(self) -> u32 {
        match self {
            Self::Fixed(rounds) => rounds,
            Self::Budget { .. } => ROUNDS_MAX,
            Self::UntilDecided(decision) => decision.rounds_max,
        }
    }

    /// How often the rounds may be judged before the run ends. 1 unless verdicts decide on the end: what a budget
    /// decides on is how much rounds vary, not who is ahead in them.
    pub fn looks(self) -> u32 {
        match self {
            Self::Fixed(_) | Self::Budget { .. } => 1,
            Self::UntilDecided(decision) => decision.looks().map_or(1, |looks| looks.at.len() as u32),
        }
    }
}

/// What is done to the systems between the steps of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BetweenSteps {
    /// Nothing: a step begins with what the step before left in caches and tables.
    #[default]
    Keep,
    /// Each server is shut down and started again: cold caches, the same tables.
    Restart,
    /// Each system's data is put back to what it was after the load, and its server started on it.
    Restore,
}

/// `rounds`, with `rounds_max` where it is until all is decided, or `budget_seconds`.
pub(super) fn rounds(table: &mut Table<'_>) -> Result<Rounds, Mistake> {
    let (max, budget) = (table.optional("rounds_max"), table.optional("budget_seconds"));
    let rounds = match (table.optional("rounds"), budget) {
        (None, None) => return Err(table.missing_one_of("rounds", "budget_seconds")),
        (Some(rounds), Some(budget)) if budget.span.start > rounds.span.start => {
            return Err((budget.span, Problem::Both { key: "budget_seconds", other: "rounds" }));
        }
        (Some(rounds), Some(_)) => {
            return Err((rounds.span, Problem::Both { key: "rounds", other: "budget_seconds" }));
        }
        (Some(value), None) if value.is_word("until-decided") => {
            let max = max.map_or(Ok(UNTIL_DECIDED), |value| value.whole(UNTIL_DECIDED_RANGE))?;
            return Ok(Rounds::UntilDecided(Decision::within(max as u32)));
        }
        (Some(value), None) if value.is_text() => {
            return Err(value.out_of_range("a whole number, or \"until-decided\""));
        }
        (Some(value), None) => Rounds::Fixed(value.whole(ROUNDS)? as u32),
        (None, Some(value)) => Rounds::Budget { seconds: value.seconds(false)? },
    };
    match max {
        Some(max) => {
            Err((max.span, Problem::Pointless { key: "rounds_max", unless: "rounds = \"until-decided\"" }))
        }
        None => Ok(rounds),
    }
}

/// `keep`, `restart` or `restore`.
pub(super) fn between_steps(value: Value<'_>) -> Result<BetweenSteps, Mistake> {
    value.one_of("way", &BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rounds_is_looked_at_once() {
        let rounds = Rounds::Fixed(8);
        assert_eq!((rounds.min(), rounds.max(), rounds.looks()), (8, 8, 1));
    }

    #[test]
    fn a_budget_begins_with_three_rounds_and_ends_by_time() {
        let rounds = Rounds::Budget { seconds: 600.0 };
        assert_eq!((rounds.min(), rounds.max(), rounds.looks()), (3, 1000, 1));
    }

    #[test]
    fn rounds_until_decided_go_at_least_to_the_first_look() {
        let rounds = Rounds::UntilDecided(Decision::within(20));
        assert_eq!((rounds.min(), rounds.max(), rounds.looks()), (8, 20, 4));
        let fewest = Rounds::UntilDecided(Decision::within(6));
        assert_eq!((fewest.min(), fewest.max(), fewest.looks()), (6, 6, 1));
    }

    #[test]
    fn less_error_takes_more_rounds_to_the_first_look() {
        let strict = |max| Rounds::UntilDecided(Decision { alpha: 0.05 / 3.0, ..Decision::within(max) });
        assert_eq!((strict(12).min(), strict(12).looks()), (8, 2));
        assert_eq!((strict(6).min(), strict(6).max(), strict(6).looks()), (6, 6, 1), "no look can decide");
    }
}
