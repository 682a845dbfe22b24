use super::*;
use crate::distribution::random::SplitMix64;
use crate::estimate::interval::CONFIDENCE;
use crate::estimate::rounds::ratio_of_rounds;
use crate::test::verdict::{Better, Margin, Verdict, verdict};
use crate::testing::{assert_close, equal_looks, hits_max, rates};

const ALPHA: f64 = 1.0 - CONFIDENCE;

fn rounds(looks: &Looks) -> Vec<usize> {
    looks.at.iter().map(|look| look.rounds).collect()
}

#[test]
fn looks_fit_the_budget_and_spend_all_of_the_error_probability() {
    for (budget, alpha, sharing) in
        (6..200).flat_map(|budget| [(budget, ALPHA, 1), (budget, 0.008, 1), (budget, ALPHA, 24)])
    {
        let Some(looks) = Looks::new(budget, alpha, sharing) else {
            assert!(budget < rounds_min(1.0 - alpha / sharing as f64), "{budget} rounds, {sharing} tests");
            continue;
        };
        assert!(looks.at.windows(2).all(|pair| pair[0].rounds < pair[1].rounds), "{looks:?}");
        assert_eq!(looks.at.last().unwrap().rounds, budget);
        assert_close(looks.at.iter().map(|look| look.alpha).sum(), alpha, 1e-12);
        for look in &looks.at {
            // Every look can find a difference in each test.
            let least = 2.0 / 2_f64.powi(look.rounds as i32);
            assert!(look.alpha / sharing as f64 >= least, "{looks:?}");
        }
        assert_eq!(looks, Looks::of(budget, looks.at.len(), alpha), "it follows from what a run records");
    }
    assert_eq!(Looks::new(5, ALPHA, 1), None);
    assert_eq!(Looks::new(5, 0.2, 1), None, "six rounds are the fewest");
}

#[test]
fn the_first_look_is_after_the_fewest_rounds_that_its_share_allows() {
    assert_eq!(rounds_min(1.0 - FIRST_SHARE * ALPHA), ROUNDS_FIRST);
    let first = Looks::new(20, ALPHA, 1).unwrap().at[0];
    assert_eq!((first.rounds, first.alpha), (7, 2.0 / 128.0), "no more than its least p-value");
    let single = Looks::new(8, ALPHA, 1).unwrap();
    assert_eq!((rounds(&single), single.at[0].alpha), (vec![8], ALPHA));
}

#[test]
fn a_look_that_cannot_reject_does_not_take_place_and_the_others_get_its_part() {
    let (alone, shared) = (Looks::new(20, ALPHA, 1).unwrap(), Looks::new(20, ALPHA, 24).unwrap());
    assert!(shared.at.len() < alone.at.len(), "{shared:?}");
    assert!(rounds(&alone).ends_with(&rounds(&shared)), "{shared:?}");
    assert!(shared.at[0].alpha > 24.0 * 2.0 / 2_f64.powi(shared.at[0].rounds as i32), "{shared:?}");
}

#[test]
fn rounds_between_two_looks_count_for_the_next() {
    let looks = Looks::new(20, ALPHA, 1).unwrap();
    let (first, second, last) = (looks.at[0], looks.at[1], *looks.at.last().unwrap());
    for (rounds, look) in
        [(0, first), (7, first), (8, second), (second.rounds, second), (20, last), (25, last)]
    {
        assert_eq!(looks.for_rounds(rounds), Some(look), "{rounds}");
    }
    let hostile = Looks::of(u32::MAX as usize, usize::MAX, ALPHA);
    assert!(hostile.at.iter().all(|look| look.alpha > 0.0 && look.alpha <= ALPHA), "{hostile:?}");
    assert_eq!(Looks::of(0, 0, ALPHA).for_rounds(3), Some(Look { rounds: 0, alpha: ALPHA }));
}

/// Outcomes of experiments that end at the first look with a verdict.
struct Ended {
    alarms: u32,
    /// Mean number of rounds.
    rounds: f64,
}

/// 2,000 experiments with rates that vary by 2%, and with outliers.
fn experiments(ratio: f64, looks: &Looks, margin: Margin) -> Ended {
    let mut random = SplitMix64::new(7);
    let (mut alarms, mut rounds) = (0, 0);
    for _ in 0..2000 {
        let budget = looks.at.last().unwrap().rounds;
        let base = rates(&mut random, budget, 1000.0, 0.02);
        let candidate = rates(&mut random, budget, 1000.0 * ratio, 0.02);
        let ln_ratios: Vec<f64> = base.iter().zip(&candidate).map(|(base, own)| (own / base).ln()).collect();
        let found = looks.at.iter().find_map(|look| {
            let own = &ln_ratios[..look.rounds];
            let interval = ratio_of_rounds(own, margin, 1.0 - look.alpha).unwrap().interval;
            let verdict = verdict(interval, margin, Better::Higher);
            (verdict != Verdict::NotEnoughEvidence).then_some((look.rounds, verdict))
        });
        rounds += found.map_or(budget, |(look, _)| look);
        alarms += u32::from(found.is_some_and(|(_, verdict)| verdict != Verdict::Same));
    }
    Ended { alarms, rounds: rounds as f64 / 2000.0 }
}

#[test]
fn between_equals_alarms_are_as_rare_as_promised_over_all_looks() {
    let nothing = Margin::new(0.0).unwrap();
    for budget in [12, 20, 60, 150] {
        let found = experiments(1.0, &Looks::new(budget, ALPHA, 1).unwrap(), nothing).alarms;
        assert!(found <= hits_max(2000, 0.05), "{budget}: {found}");
    }
    // The mistake that looks prevent: a test after every round, each with the whole error probability.
    let eager = Looks { at: (6..=60).map(|rounds| Look { rounds, alpha: ALPHA }).collect() };
    assert!(experiments(1.0, &eager, nothing).alarms > 2 * hits_max(2000, 0.05));
}

#[test]
fn a_planted_five_percent_is_found_before_the_budget_is_spent() {
    let looks = Looks::new(60, ALPHA, 1).unwrap();
    let found = experiments(1.0 / 1.05, &looks, Margin::new(0.02).unwrap());
    assert!(found.alarms > 1900, "power {} of 2000", found.alarms);
    assert!(found.rounds < 35.0, "took {} rounds", found.rounds);
}

#[test]
fn fewer_rounds_find_as_much_as_with_equal_levels() {
    let nothing = Margin::new(0.0).unwrap();
    for (budget, found_least, rounds_most) in [(10, 1.03, 1.001), (20, 1.01, 0.98)] {
        let (spending, equal) = (Looks::new(budget, ALPHA, 1).unwrap(), equal_looks(budget, ALPHA));
        let (mut by_spending, mut by_equal) = ((0.0, 0.0), (0.0, 0.0));
        for percent in [1.0, 2.0, 4.0, 8.0, 16.0] {
            for (looks, sum) in [(&spending, &mut by_spending), (&equal, &mut by_equal)] {
                let found = experiments(1.0 + percent / 100.0, looks, nothing);
                *sum = (sum.0 + f64::from(found.alarms), sum.1 + found.rounds);
            }
        }
        assert!(
            by_spending.0 >= found_least * by_equal.0 && by_spending.1 <= rounds_most * by_equal.1,
            "{budget}: found in rounds {by_spending:?} by spending, {by_equal:?} with equal levels"
        );
    }
}
