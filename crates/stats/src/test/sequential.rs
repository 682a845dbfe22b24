//! Sequential measurement until a verdict is reached, with a bounded error probability.
//!
//! A test after every round sooner or later gives a false alarm (Armitage, `McPherson` and Rowe, "Repeated
//! significance tests on accumulating data", Journal of the Royal Statistical Society A 132(2), 1969). The looks
//! are therefore fixed beforehand, and a spending function says how much of the error probability α is spent up to
//! each of them. The function depends only on the share of the planned rounds that are measured, which is called
//! the information (Lan and `DeMets`, "Discrete sequential boundaries for clinical trials", Biometrika 70(3),
//! 1983).
//!
//! # The levels
//!
//! The least p-value of n rounds is 2/2ⁿ, and all p-values are multiples of it. A look whose level is below its least
//! p-value can reject nothing, so no such look takes place. The part of a level that exceeds the largest possible
//! multiple of the least p-value is of no use. Therefore each look spends only this multiple, and the rest goes to the
//! next look. The first look may spend a third of α, which suffices at seven rounds for α = 5%. The other two thirds
//! are spent in proportion to the rounds after the first look, and the last look gets all of α that has not been spent.
//!
//! In simulations (`tests.rs` here and `max_t/tests/looks.rs`) with at most 20 rounds, planted differences take 3
//! to 6% fewer rounds than with equal levels for all looks, and slightly more differences are found. With at most
//! 10 rounds, more differences are found in the same number of rounds. With 45 or more rounds, the two kinds of
//! levels hardly differ.
//!
//! # Why false alarms stay below α
//!
//! Let n₁ < … < nₖ be the looks and a₁, …, aₖ their levels, whose sum is α. At a look, the tests without an alarm
//! are judged together, step by step, at its level. Consider the first look with a false alarm. Until then, only
//! tests with a true difference had an alarm and left the family. So the family of this look contains all tests
//! without a difference, and a step-down test at level aᵢ rejects one of these only if their largest statistic
//! exceeds its critical value. The probability of this event is at most aᵢ, and the event depends neither on the
//! other tests nor on earlier looks. By Boole's inequality, the probability of any false alarm is at most a₁ + … +
//! aₖ = α. This holds for any dependence between tests and between looks. If looks do not take place because
//! everything is decided, the probability is smaller. Tests that a run stops measuring without an alarm stay in the
//! family ([`max_t`](crate::max_t) says why this is valid).
//!
//! If a time limit ends a run between two looks, the results are judged at the level of the next look, which will
//! not take place. There is still one event for each look, provided that the number of rounds at the end does not
//! depend on the results. It depends on them only because tests that are no longer measured save time.
//!
//! # Why not the joint distribution of the looks
//!
//! The same reversals of rounds also show how often a later look exceeds its critical value although no earlier look
//! did. Levels that use this could be larger. But the critical value of a later look would then depend on the critical
//! values of earlier looks, which had a larger family. The critical value could therefore be larger for a smaller
//! family, and step-down tests are valid only if this is impossible (Romano and Wolf, "Exact and approximate stepdown
//! methods for multiple hypothesis testing", Journal of the American Statistical Association 100, 2005, section 2).

use serde::Serialize;

use crate::estimate::interval::{ROUNDS_MIN, rounds_min};

/// Largest number of looks. With more looks, the confidence that each look needs would cost more trials than the
/// looks save.
const LOOKS_MAX: usize = 5;

/// Intended ratio of the numbers of rounds at two successive looks. The actual ratio differs, because rounds are
/// whole, and because runs of many rounds have at most [`LOOKS_MAX`] looks.
const GROWTH: f64 = 1.35;

/// Rounds before the first look: the smallest number whose least p-value is at most [`FIRST_SHARE`] of 5%.
const ROUNDS_FIRST: usize = 7;

/// Share of the error probability that the first look may spend.
const FIRST_SHARE: f64 = 1.0 / 3.0;

/// A number of rounds after which the results are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Look {
    pub rounds: usize,
    /// The error probability of this look.
    pub alpha: f64,
}

/// The looks of a run. The module's comment explains them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looks {
    /// In ascending order of rounds. The last look has the planned maximum of rounds.
    pub at: Vec<Look>,
}

impl Looks {
    /// Plans as many looks within `rounds_max` rounds as possible, such that each of them can still reject something.
    /// `None` if not even a single look can. `alpha` is the error probability of all looks together. `sharing` is the
    /// number of tests among which the level of a look is divided equally. It is 1 for corrections whose least p-value
    /// does not grow with the number of tests.
    pub fn new(rounds_max: usize, alpha: f64, sharing: usize) -> Option<Self> {
        let numbers = (1..=times(rounds_max).len()).rev();
        numbers.map(|number| Self::of(rounds_max, number, alpha)).find(|looks| looks.can_decide(sharing))
    }

    /// The looks of a run whose plan has this number of looks within `rounds_max` rounds.
    pub fn of(rounds_max: usize, number: usize, alpha: f64) -> Self {
        let all = times(rounds_max);
        let times = &all[all.len() - number.clamp(1, all.len())..];
        let (first, last) = (times[0] as f64, rounds_max as f64);
        // The error probability that may be spent up to a look.
        let spendable = |rounds: usize| {
            let after_first = (rounds as f64 - first) / (last - first);
            alpha * (FIRST_SHARE + (1.0 - FIRST_SHARE) * after_first)
        };
        let mut spent = 0.0;
        let look = |&rounds: &usize| {
            let alpha = if rounds == rounds_max {
                alpha - spent
            } else {
                attainable(spendable(rounds) - spent, rounds)
            };
            spent += alpha;
            Look { rounds, alpha }
        };
        Self { at: times.iter().map(look).collect() }
    }

    /// The look at which a run with this number of rounds is judged: the next planned look, or the last planned look
    /// if the run has more rounds.
    pub fn for_rounds(&self, rounds: usize) -> Option<Look> {
        self.at.iter().find(|look| look.rounds >= rounds).or(self.at.last()).copied()
    }

    fn can_decide(&self, sharing: usize) -> bool {
        let least = |look: &Look| rounds_min(1.0 - look.alpha / sharing.max(1) as f64).max(ROUNDS_MIN);
        self.at.iter().all(|look| look.rounds >= least(look))
    }
}

/// The numbers of rounds at which a run may be judged: in geometric steps up to the maximum.
fn times(rounds_max: usize) -> Vec<usize> {
    let last = rounds_max as f64;
    let growth = (last / ROUNDS_FIRST as f64).max(1.0);
    let steps = ((growth.ln() / GROWTH.ln()).round() as usize).min(LOOKS_MAX - 1);
    let time = |step: usize| match steps - step {
        0 => rounds_max,
        left => (last / growth.powf(left as f64 / steps as f64)).round() as usize,
    };
    (0..=steps).map(time).collect()
}

/// Rounds a level down to a multiple of the least p-value of these rounds. A level below the least p-value is
/// returned unchanged.
fn attainable(level: f64, rounds: usize) -> f64 {
    // An f64 cannot distinguish the p-values of more than 60 rounds.
    let least = 2.0 / 2_f64.powi(rounds.min(60) as i32);
    // The tolerance allows for rounding.
    let multiples = (level / least + 1e-9).floor();
    if multiples >= 1.0 { multiples * least } else { level }
}

#[cfg(test)]
mod tests;
