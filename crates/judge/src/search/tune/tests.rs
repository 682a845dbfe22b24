use std::collections::BTreeSet;

use dyno_stats::{Interval, SplitMix64, ratio_of_rounds};

use super::*;

const SIZE: TuneSize = TuneSize { rounds_confirmed: 12 };

fn set(values: &[(usize, usize)]) -> ValueSet {
    ValueSet(values.iter().copied().collect())
}

fn effect(ratio: f64) -> ProbeEffect {
    let interval = Interval { low: ratio * 0.99, high: ratio * 1.01, confidence: 0.95 };
    ProbeEffect { ratio, interval: Some(interval) }
}

fn measured(ratio: f64) -> ProbeOutcome {
    ProbeOutcome::Measured(effect(ratio))
}

/// The two sets that a comparison measures. The result is the throughput of the second as a multiple of the first's.
fn sides(probe: &TuneProbe) -> (ValueSet, ValueSet) {
    let base = ValueSet::default();
    match probe {
        TuneProbe::Control => (base.clone(), base),
        TuneProbe::Search { candidate, .. } => (base, candidate.clone()),
        TuneProbe::Confirm(values) => (base, values.clone()),
        TuneProbe::Without { all, setting } => (all.clone(), all.without(*setting)),
    }
}

/// Carries out a search. `outcome` returns the result of each comparison.
fn search(
    mut tuning: Tuning,
    mut outcome: impl FnMut(&Tuning, &TuneProbe) -> ProbeOutcome,
) -> (Tuned, Vec<TuneProbe>) {
    let mut made = Vec::new();
    loop {
        match tuning.next_step(TuneReach::Search) {
            TuneStep::End(tuned) => {
                assert_eq!(tuned, tuning.so_far(), "an end needs no further comparison");
                return (tuned, made);
            }
            TuneStep::Probe(probe) => {
                assert!(!made.contains(&probe), "{probe:?} is made twice");
                let outcome = outcome(&tuning, &probe);
                tuning.note(probe.clone(), outcome);
                made.push(probe);
            }
        }
    }
}

fn tuning(space: &[usize], number: usize, seed: u64) -> Tuning {
    Tuning::new(candidates(space, number, seed), SIZE, Margin::least())
}

/// Outcomes without noise. `speed` returns the throughput of a set.
fn exact(speed: impl Fn(&ValueSet) -> f64) -> impl FnMut(&Tuning, &TuneProbe) -> ProbeOutcome {
    move |_, probe| {
        let (base, other) = sides(probe);
        measured(speed(&other) / speed(&base))
    }
}

/// Like [`exact`], but rounds vary, and comparisons are judged in the same way as comparisons of runs.
fn noisy(
    speed: impl Fn(&ValueSet) -> f64,
    deviation: f64,
    random: &mut SplitMix64,
) -> impl FnMut(&Tuning, &TuneProbe) -> ProbeOutcome {
    move |tuning, probe| {
        let (base, other) = sides(probe);
        let ln_ratio = (speed(&other) / speed(&base)).ln();
        // The sum of twelve uniform numbers is nearly normal, with variance 1.
        let mut normal = || (0..12).map(|_| random.draw() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        let rounds: Vec<f64> = (0..tuning.rounds(probe)).map(|_| ln_ratio + deviation * normal()).collect();
        let estimate = ratio_of_rounds(&rounds, Margin::least(), 1.0 - Tuning::alpha(probe)).unwrap();
        ProbeOutcome::Measured(ProbeEffect { ratio: estimate.ratio, interval: estimate.interval })
    }
}

/// A speed that is the product of the effects of the set's values.
fn product<const N: usize>(effects: [((usize, usize), f64); N]) -> impl Fn(&ValueSet) -> f64 {
    move |values| {
        let there = effects.iter().filter(|((setting, value), _)| values.0.get(setting) == Some(value));
        there.map(|(_, factor)| factor).product()
    }
}

#[test]
fn a_planted_value_is_found_confirmed_and_left_alone() {
    let space = [2, 3, 1, 2, 1, 2];
    for (planted, seed) in [((0, 0), 1), ((1, 1), 2), ((2, 0), 3), ((5, 1), 4)] {
        let speed = product([(planted, 1.5)]);
        let (tuned, made) = search(tuning(&space, 16, seed), exact(speed));
        assert_eq!(tuned.ending, TuneEnding::Better, "{planted:?}");
        let recommended = tuned.recommended.unwrap();
        assert_eq!(recommended.values, set(&[planted]), "values that do nothing are out");
        assert_eq!(recommended.effect, Some(effect(1.5)));
        assert!(made.contains(&TuneProbe::Confirm(recommended.values)), "what is recommended is confirmed");
    }
}

#[test]
fn noise_hides_no_large_gain_and_the_recommendation_has_it() {
    let mut random = SplitMix64::new(11);
    let space = [3, 3, 1, 2, 1, 2, 2, 1];
    let speed = product([((1, 0), 1.3), ((3, 1), 1.15), ((4, 0), 0.8), ((6, 0), 0.9)]);
    let mut found = 0;
    for seed in 0..100 {
        let (tuned, _) = search(tuning(&space, 16, seed), noisy(&speed, 0.02, &mut random));
        let Some(recommended) = tuned.recommended else { continue };
        found += u32::from(recommended.values.0.get(&1) == Some(&0));
        let is_slow = |(setting, value): (&usize, &usize)| [(4, 0), (6, 0)].contains(&(*setting, *value));
        assert!(!recommended.values.0.iter().any(is_slow), "{recommended:?}");
    }
    assert!(found >= 95, "{found} of 100");
}

#[test]
fn where_nothing_is_better_a_claim_is_as_rare_as_its_error() {
    let mut random = SplitMix64::new(5);
    let mut claimed = 0;
    for seed in 0..400 {
        // The true ratio is exactly at the margin, where a false claim is most likely.
        let speed = |values: &ValueSet| if values.is_empty() { 1.0 } else { Margin::least().high() };
        let (tuned, _) = search(tuning(&[2, 2, 1, 3], 8, seed), noisy(speed, 0.03, &mut random));
        claimed += u32::from(tuned.ending == TuneEnding::Better);
    }
    assert!(claimed <= 20, "{claimed} of 400");
    let (tuned, made) = search(tuning(&[2, 2, 1, 3], 8, 1), exact(|_| 1.0));
    assert_eq!((tuned.ending, tuned.winner, tuned.recommended), (TuneEnding::NothingBetter, None, None));
    assert_eq!(made.len(), 1 + 8, "after the first stage nobody is left");
}

#[test]
fn what_is_better_alone_is_tried_together() {
    let space = [1, 1, 1, 1, 1, 1, 1, 1];
    let speed = product([((0, 0), 1.2), ((1, 0), 1.2), ((2, 0), 0.3), ((5, 0), 0.3)]);
    let (tuned, made) = search(tuning(&space, 12, 1), exact(speed));
    let together = set(&[(0, 0), (1, 0)]);
    assert!(made.contains(&TuneProbe::Search { stage: 1, candidate: together.clone() }), "{made:?}");
    assert_eq!(tuned.recommended.unwrap().values, together);
    let of_both = tuned.worth.iter().filter(|worth| worth.setting < 2);
    assert!(of_both.clone().all(|worth| worth.verdict == WorthVerdict::Better), "{:?}", tuned.worth);
    assert_eq!(of_both.count(), 2);
}

#[test]
fn of_candidates_that_are_as_good_the_one_with_the_fewest_settings_is_taken() {
    let (one, three) = (set(&[(0, 0)]), set(&[(0, 0), (1, 0), (2, 0)]));
    let outcome = |three_ratio: f64| {
        let big = three.clone();
        move |_: &Tuning, probe: &TuneProbe| match probe {
            TuneProbe::Control => measured(1.0),
            probe if sides(probe).1 == big => measured(three_ratio),
            probe => measured(if sides(probe).1.0.contains_key(&0) { 1.5 } else { 1.0 }),
        }
    };
    let winner = |ratio: f64| {
        let all = vec![three.clone(), one.clone(), set(&[(3, 0)]), set(&[(4, 0)])];
        let tuning = Tuning::new(all, SIZE, Margin::least());
        search(tuning, outcome(ratio)).0.winner.unwrap().values
    };
    assert_eq!(winner(1.51), one);
    assert_eq!(winner(1.6), three);
}

#[test]
fn of_two_values_that_do_the_same_one_stays() {
    let speed = |values: &ValueSet| if values.is_empty() { 1.0 } else { 1.4 };
    let mut tuning = Tuning::new(vec![set(&[(0, 0), (1, 0), (2, 0)])], SIZE, Margin::least());
    tuning.note(TuneProbe::Control, measured(1.0));
    let (tuned, _) = search(tuning, exact(speed));
    assert_eq!(tuned.recommended.unwrap().values, set(&[(0, 0)]));
    let verdicts: Vec<WorthVerdict> = tuned.worth.iter().map(|worth| worth.verdict).collect();
    assert_eq!(verdicts, [WorthVerdict::DoesNothing, WorthVerdict::DoesNothing, WorthVerdict::All]);
}

#[test]
fn what_is_left_is_recommended_only_if_it_is_confirmed() {
    let all = set(&[(0, 0), (1, 0)]);
    let outcome = |_: &Tuning, probe: &TuneProbe| match probe {
        TuneProbe::Confirm(values) if values.0.len() == 1 => measured(1.01),
        TuneProbe::Without { .. } | TuneProbe::Control => measured(1.0),
        TuneProbe::Confirm(_) | TuneProbe::Search { .. } => measured(1.3),
    };
    let (tuned, _) = search(Tuning::new(vec![all.clone()], SIZE, Margin::least()), outcome);
    assert_eq!(tuned.recommended, Some(MeasuredSet { values: all, effect: Some(effect(1.3)) }));
}

#[test]
fn a_winner_that_is_not_confirmed_is_nothing_better() {
    let outcome = |_: &Tuning, probe: &TuneProbe| match probe {
        TuneProbe::Search { .. } => measured(1.2),
        _ => measured(1.0),
    };
    let (tuned, made) = search(tuning(&[1, 1, 1], 4, 1), outcome);
    assert_eq!((tuned.ending, tuned.recommended.is_none()), (TuneEnding::NothingBetter, true));
    assert_eq!(tuned.winner.unwrap().effect, Some(effect(1.0)));
    assert!(!made.iter().any(|probe| matches!(probe, TuneProbe::Without { .. })), "{made:?}");
}

#[test]
fn sets_that_a_server_refuses_are_passed_by() {
    let speed = product([((0, 0), 1.5), ((1, 0), 3.0)]);
    let mut world = exact(speed);
    let (tuned, _) = search(tuning(&[2, 1, 1, 1], 10, 1), |tuning, probe| {
        if sides(probe).1.0.contains_key(&1) { ProbeOutcome::Refused } else { world(tuning, probe) }
    });
    assert_eq!(tuned.recommended.unwrap().values, set(&[(0, 0)]));
    let (tuned, made) = search(tuning(&[2, 1], 4, 1), |_, _| ProbeOutcome::Refused);
    assert_eq!((tuned.ending, made.len()), (TuneEnding::BaseFailed, 1));
    let (tuned, _) = search(tuning(&[2, 1], 4, 1), |_, probe| match probe {
        TuneProbe::Control => measured(1.0),
        _ => ProbeOutcome::Refused,
    });
    assert_eq!(tuned.ending, TuneEnding::NothingBetter);
}

#[test]
fn a_search_whose_time_is_over_confirms_the_best_so_far() {
    let mut world = exact(product([((1, 0), 1.5), ((2, 0), 2.0)]));
    let mut tuning = tuning(&[1, 1, 1, 1], 8, 1);
    let mut reach = TuneReach::Search;
    let mut made = BTreeSet::new();
    let tuned = loop {
        match tuning.next_step(reach) {
            TuneStep::End(tuned) => break tuned,
            TuneStep::Probe(probe) => {
                assert!(
                    reach == TuneReach::Search || !matches!(probe, TuneProbe::Search { .. }),
                    "{probe:?}"
                );
                let outcome = world(&tuning, &probe);
                tuning.note(probe.clone(), outcome);
                made.insert(probe);
                // At this point, the control and two candidates have been compared, and the second candidate is better.
                if made.len() == 3 {
                    assert_eq!(tuning.leader(), Some(set(&[(1, 0)])));
                    reach = TuneReach::Answer;
                }
            }
        }
    };
    assert!(tuned.is_cut_short);
    assert_eq!(tuned.recommended.unwrap().values, set(&[(1, 0)]), "the better one had no time");
}

#[test]
fn a_search_whose_time_is_over_before_anything_is_better_is_unfinished() {
    let mut world = exact(product([]));
    let mut tuning = tuning(&[1, 1, 1, 1], 8, 1);
    for _ in 0..3 {
        let TuneStep::Probe(probe) = tuning.next_step(TuneReach::Search) else { panic!() };
        let outcome = world(&tuning, &probe);
        tuning.note(probe, outcome);
    }
    let TuneStep::End(tuned) = tuning.next_step(TuneReach::Answer) else { panic!() };
    assert_eq!(tuned, tuning.so_far());
    assert_eq!((tuned.ending, tuned.is_cut_short), (TuneEnding::Unfinished, true));
}

#[test]
fn a_search_that_was_stopped_has_what_it_found_and_claims_nothing() {
    let mut world = exact(product([((1, 0), 1.5)]));
    let mut tuning = tuning(&[1, 1, 1], 4, 1);
    assert_eq!(tuning.so_far().ending, TuneEnding::Unfinished);
    while let TuneStep::Probe(probe) = tuning.next_step(TuneReach::Search) {
        let so_far = tuning.so_far();
        if !tuning.known.keys().any(|probe| matches!(probe, TuneProbe::Confirm(_))) {
            assert_eq!((so_far.ending, so_far.recommended), (TuneEnding::Unfinished, None), "{probe:?}");
        }
        let outcome = world(&tuning, &probe);
        tuning.note(probe, outcome);
    }
    assert_eq!(tuning.so_far().ending, TuneEnding::Better);
}
