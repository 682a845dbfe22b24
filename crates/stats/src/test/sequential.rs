//! Sequential measurement until a verdict is reached, with a bounded error probability.

use serde::Serialize;

use crate::estimate::interval::rounds_min;

/// Largest number of looks. With more looks, the confidence that each look needs would cost more trials than the looks
/// save.
const LOOKS_MAX: usize = 6;

/// Smallest growth of the number of rounds from one look to the next.
const GROWTH_MIN: f64 = 1.3;

/// The numbers of rounds after which the results are tested, and the confidence of each test.
///
/// Testing after every round until the first alarm gives false alarms sooner or later (Armitage, `McPherson` and Rowe,
/// "Repeated significance tests on accumulating data", Journal of the Royal Statistical Society A 132(2), 1969). The
/// looks are therefore fixed beforehand, and each uses an equal part of the total error (Bonferroni; Dunn, Journal of
/// the American Statistical Association 56, 1961). The probability that any of K looks errs is at most K·(α/K) = α,
/// however the looks depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looks {
    /// Numbers of rounds at which to test, ascending. The last is the budget.
    pub at: Vec<usize>,
    /// Confidence of each look's interval.
    pub confidence: f64,
}

impl Looks {
    /// Looks within a budget of rounds with a total confidence of `confidence`; `None` if the budget allows
    /// no verdict.
    pub fn new(rounds_max: usize, confidence: f64) -> Option<Self> {
        let each = |looks: usize| 1.0 - (1.0 - confidence) / looks as f64;
        let fits = |looks: &usize| {
            rounds_min(each(*looks)) as f64 * GROWTH_MIN.powi(*looks as i32 - 1) <= rounds_max as f64
        };
        let looks = (1..=LOOKS_MAX).rev().find(fits)?;
        let first = rounds_min(each(looks)) as f64;
        let growth = rounds_max as f64 / first;
        let at = |look: usize| match looks {
            1 => rounds_max,
            _ => (first * growth.powf(look as f64 / (looks - 1) as f64)).round() as usize,
        };
        Some(Self { at: (0..looks).map(at).collect(), confidence: each(looks) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::estimate::rounds::ratio_of_rounds;
    use crate::test::verdict::{Better, Margin, Verdict, verdict};
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
            assert!(looks.at[0] >= rounds_min(looks.confidence), "{looks:?}");
        }
    }

    /// Share of experiments in which a look finds a difference beyond the margin, and the mean number of rounds.
    fn alarms(ratio: f64, looks: &Looks, margin: Margin) -> (u32, f64) {
        let mut random = SplitMix64::new(7);
        let (mut alarms, mut rounds) = (0, 0);
        for _ in 0..2000 {
            let budget = *looks.at.last().unwrap();
            let base = rates(&mut random, budget, 1000.0, 0.02);
            let candidate = rates(&mut random, budget, 1000.0 * ratio, 0.02);
            let ln_ratios: Vec<f64> =
                base.iter().zip(&candidate).map(|(base, own)| (own / base).ln()).collect();
            let found = looks.at.iter().find_map(|&look| {
                let interval =
                    ratio_of_rounds(&ln_ratios[..look], margin, looks.confidence).unwrap().interval;
                let verdict = verdict(interval, margin, Better::Higher);
                (verdict != Verdict::NotEnoughEvidence).then_some((look, verdict))
            });
            rounds += found.map_or(budget, |(look, _)| look);
            alarms += u32::from(found.is_some_and(|(_, verdict)| verdict != Verdict::Same));
        }
        (alarms, rounds as f64 / 2000.0)
    }

    #[test]
    fn between_equals_alarms_are_as_rare_as_promised_over_all_looks() {
        let nothing = Margin::new(0.0).unwrap();
        for budget in [20, 60, 150] {
            let looks = Looks::new(budget, 0.95).unwrap();
            let (alarms, _) = alarms(1.0, &looks, nothing);
            assert!(alarms <= hits_max(2000, 0.05), "{budget}: {alarms}");
        }
        // The looks prevent this error: testing after every round with the confidence of a single look.
        let eager = Looks { at: (6..=60).collect(), confidence: 0.95 };
        assert!(alarms(1.0, &eager, nothing).0 > 2 * hits_max(2000, 0.05));
    }

    #[test]
    fn a_planted_five_percent_is_found_before_the_budget_is_spent() {
        let looks = Looks::new(60, 0.95).unwrap();
        let (found, rounds) = alarms(1.0 / 1.05, &looks, Margin::new(0.02).unwrap());
        assert!(found > 1900, "power {found} of 2000");
        assert!(rounds < 35.0, "took {rounds} rounds");
    }
}
