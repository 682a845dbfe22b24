//! Measuring until a verdict is reached, without fooling oneself by looking too often.

use serde::Serialize;

use crate::paired::{median_interval, pairs_min};
use crate::verdict::{Better, Margin, Verdict, verdict};

/// More looks than these would cost more confidence each than they save in trials.
const LOOKS_MAX: usize = 6;

/// Each look comes with at least so many times the pairs of the one before.
const GROWTH_MIN: f64 = 1.3;

/// When to look at the pairs measured so far, and how sure to be at each look.
///
/// Who looks after every pair and stops at the first alarm gets one sooner or later, also between equals
/// (Armitage, `McPherson` and Rowe, "Repeated significance tests on accumulating data", Journal of the Royal
/// Statistical Society A 132(2), 1969). So the looks are fixed beforehand, and each spends an equal part of the
/// error that the whole may have (Bonferroni; Dunn, Journal of the American Statistical Association 56, 1961): the
/// chance that any of K looks errs is at most K·(α/K) = α, however the looks depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looks {
    /// Numbers of pairs at which to look, ascending; the last is the budget.
    pub at: Vec<usize>,
    /// The confidence that each look's interval must have.
    pub confidence: f64,
}

impl Looks {
    /// Looks within a budget of pairs that are right with `confidence` in all; none if the budget allows no verdict.
    pub fn new(pairs_max: usize, confidence: f64) -> Option<Self> {
        let each = |looks: usize| 1.0 - (1.0 - confidence) / looks as f64;
        let fits = |looks: &usize| {
            pairs_min(each(*looks)) as f64 * GROWTH_MIN.powi(*looks as i32 - 1) <= pairs_max as f64
        };
        let looks = (1..=LOOKS_MAX).rev().find(fits)?;
        let first = pairs_min(each(looks)) as f64;
        let growth = pairs_max as f64 / first;
        let at = |look: usize| match looks {
            1 => pairs_max,
            _ => (first * growth.powf(look as f64 / (looks - 1) as f64)).round() as usize,
        };
        Some(Self { at: (0..looks).map(at).collect(), confidence: each(looks) })
    }

    /// Judges the pairs' ratios measured so far. Between two looks nothing is judged.
    pub fn progress(&self, ratios: &[f64], margin: Margin, better: Better) -> Progress {
        if self.at.contains(&ratios.len()) {
            let interval = median_interval(ratios, self.confidence);
            match verdict(interval, margin, better) {
                Verdict::NotEnoughEvidence => {}
                verdict => return Progress::Decided { verdict },
            }
        }
        match self.at.iter().find(|look| **look > ratios.len()) {
            Some(&pairs) => Progress::GoOn { pairs },
            None => Progress::Spent,
        }
    }
}

/// Where a test that runs until it is decided stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Progress {
    /// It may stop.
    Decided {
        /// What was decided.
        verdict: Verdict,
    },
    /// It needs more pairs.
    GoOn {
        /// The number of pairs at which to look next.
        pairs: usize,
    },
    /// The budget is spent without a verdict.
    Spent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::pair_ratios;
    use crate::random::SplitMix64;
    use crate::testing::{assert_close, hits_max, rates};

    #[test]
    fn looks_fit_the_budget_and_begin_where_an_interval_does() {
        let looks = Looks::new(20, 0.95).unwrap();
        assert_eq!(looks.at, [8, 11, 15, 20]);
        assert_close(looks.confidence, 1.0 - 0.05 / 4.0, 1e-12);
        assert_eq!(Looks::new(6, 0.95).unwrap().at, [6]);
        assert_eq!(Looks::new(5, 0.95), None);
        for budget in 6..200 {
            let looks = Looks::new(budget, 0.95).unwrap();
            assert!(looks.at.windows(2).all(|pair| pair[0] < pair[1]), "{looks:?}");
            assert_eq!(looks.at.last(), Some(&budget));
            assert!(looks.at[0] >= pairs_min(looks.confidence), "{looks:?}");
        }
    }

    #[test]
    fn between_looks_it_goes_on_and_after_the_last_the_budget_is_spent() {
        let looks = Looks::new(20, 0.95).unwrap();
        let margin = Margin::new(0.02).unwrap();
        let progress = |ratios: &[f64]| looks.progress(ratios, margin, Better::Higher);
        assert_eq!(progress(&[1.5; 7]), Progress::GoOn { pairs: 8 });
        assert_eq!(progress(&[1.5; 8]), Progress::Decided { verdict: Verdict::Improved });
        assert_eq!(progress(&[1.5; 9]), Progress::GoOn { pairs: 11 });
        let wide: Vec<f64> = (0..20).map(|at| 0.9 + 0.01 * f64::from(at)).collect();
        assert_eq!(progress(&wide), Progress::Spent);
    }

    /// How many of 2000 experiments raise an alarm, and the mean of the pairs that they took.
    fn alarms(ratio: f64, looks: &Looks, margin: Margin) -> (u32, f64) {
        let mut random = SplitMix64::new(7);
        let (mut alarms, mut pairs) = (0, 0);
        for _ in 0..2000 {
            let budget = *looks.at.last().unwrap();
            let base = rates(&mut random, budget, 1000.0, 0.02);
            let candidate = rates(&mut random, budget, 1000.0 * ratio, 0.02);
            let ratios = pair_ratios(&base, &candidate).unwrap();
            let found = looks.at.iter().find_map(|&look| {
                let progress = looks.progress(&ratios[..look], margin, Better::Higher);
                matches!(progress, Progress::Decided { .. }).then_some((look, progress))
            });
            pairs += found.map_or(budget, |(look, _)| look);
            let changed =
                [Verdict::Improved, Verdict::Regressed].map(|verdict| Progress::Decided { verdict });
            alarms += u32::from(found.is_some_and(|(_, progress)| changed.contains(&progress)));
        }
        (alarms, pairs as f64 / 2000.0)
    }

    #[test]
    fn between_equals_alarms_are_as_rare_as_promised_over_all_looks() {
        let nothing = Margin::new(0.0).unwrap();
        for budget in [20, 60, 150] {
            let looks = Looks::new(budget, 0.95).unwrap();
            let (alarms, _) = alarms(1.0, &looks, nothing);
            assert!(alarms <= hits_max(2000, 0.05), "{budget}: {alarms}");
        }
        // Looking at every pair with the confidence of a single look is what this protects from.
        let eager = Looks { at: (6..=60).collect(), confidence: 0.95 };
        assert!(alarms(1.0, &eager, nothing).0 > 2 * hits_max(2000, 0.05));
    }

    #[test]
    fn a_planted_five_percent_is_found_before_the_budget_is_spent() {
        let looks = Looks::new(60, 0.95).unwrap();
        let (found, pairs) = alarms(1.0 / 1.05, &looks, Margin::new(0.02).unwrap());
        assert!(found > 1900, "power {found} of 2000");
        assert!(pairs < 35.0, "took {pairs} pairs");
    }
}
