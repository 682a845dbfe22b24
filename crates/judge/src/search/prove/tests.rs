use dyno_stats::{Interval, Margin, SplitMix64};

use super::*;

fn effect(ratio: f64) -> ProbeEffect {
    let interval = Interval { low: ratio * 0.99, high: ratio * 1.01, confidence: 0.998 };
    ProbeEffect { ratio, interval: Some(interval) }
}

fn measured(ratio: f64) -> ProbeOutcome {
    ProbeOutcome::Measured(effect(ratio))
}

fn question(changes: usize, suspects: usize, ratio: f64) -> ProofQuestion {
    ProofQuestion { changes, suspects, is_all: true, ratio, margin: Margin::least() }
}

/// Carries out a proof with simulated probes: `world` returns the outcome for a set of changes. Returns the proof and
/// the number of probes.
fn prove(asked: ProofQuestion, world: impl Fn(&[usize]) -> ProbeOutcome) -> (Proof, usize) {
    let all: Vec<usize> = (0..asked.changes).collect();
    let whole = world(&all);
    prove_beyond(asked, whole, world)
}

/// Like [`prove`], with `whole` as the outcome for the candidate.
fn prove_beyond(
    asked: ProofQuestion,
    whole: ProbeOutcome,
    world: impl Fn(&[usize]) -> ProbeOutcome,
) -> (Proof, usize) {
    let mut proving = Proving::new(asked);
    let mut made = Vec::new();
    loop {
        match proving.next_step() {
            ProofStep::End(proof) => {
                assert_eq!(proof, proving.so_far(), "an end needs no further probe");
                return (proof, made.len());
            }
            ProofStep::Probe(probe, length) => {
                let outcome = match &probe {
                    Probe::Whole => whole,
                    Probe::Changes(changes) => world(changes),
                };
                let before = (probe.clone(), length);
                assert!(!made.contains(&before), "{before:?} is made twice");
                made.push(before);
                assert!(made.len() <= proving.probes_max());
                proving.note(probe, length, outcome);
            }
        }
    }
}

/// Outcomes in which each change multiplies the throughput by its effect.
fn independent(effects: &[(usize, f64)]) -> impl Fn(&[usize]) -> ProbeOutcome {
    move |changes| {
        let there = effects.iter().filter(|(change, _)| changes.contains(change));
        measured(there.map(|(_, ratio)| ratio).product())
    }
}

fn causes(proof: &Proof) -> Vec<Vec<usize>> {
    proof.causes.iter().map(|cause| cause.changes.clone()).collect()
}

#[test]
fn one_cause_among_sixteen_is_proven_with_twelve_probes_wherever_it_is() {
    for changes in 1..=16 {
        for culprit in 0..changes {
            for ratio in [0.57, 0.9, 1.8] {
                for suspects in [0, 1] {
                    let asked = question(changes, suspects, ratio);
                    let (proof, probes) = prove(asked, independent(&[(culprit, ratio)]));
                    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![culprit]]));
                    assert!(probes <= 12, "{probes} probes for {culprit} of {changes}");
                    let cause = &proof.causes[0];
                    assert_eq!(cause.together, Some(effect(ratio)));
                    assert_eq!(cause.without, (changes > 1).then(|| effect(1.0)));
                    assert!(cause.alone.is_empty() && cause.is_smallest);
                }
            }
        }
    }
}

#[test]
fn evidence_for_the_cause_spares_most_of_the_search() {
    let (proof, probes) = prove(question(16, 3, 0.57), independent(&[(0, 0.57)]));
    assert_eq!((causes(&proof), probes), (vec![vec![0]], 3));
}

#[test]
fn two_that_only_act_together_are_found_with_what_each_does_alone() {
    let mut found = 0;
    let mut pairs = 0;
    for first in 0..8 {
        for second in first + 1..8 {
            let world = |changes: &[usize]| {
                measured(if changes.contains(&first) && changes.contains(&second) { 0.5 } else { 1.0 })
            };
            let (proof, _) = prove(question(8, 0, 0.5), world);
            pairs += 1;
            assert!(proof.causes[0].changes.contains(&first) && proof.causes[0].changes.contains(&second));
            if proof.ending == ProofEnding::Proven {
                found += 1;
                let cause = &proof.causes[0];
                assert_eq!(cause.changes, [first, second]);
                assert_eq!(cause.alone, [Some(effect(1.0)), Some(effect(1.0))]);
                assert_eq!(cause.relation, Some(Relation::MoreTogether));
                assert_eq!(cause.without, Some(effect(1.0)));
            } else {
                assert_eq!(proof.ending, ProofEnding::NotNarrowed, "{first} {second}");
            }
        }
    }
    assert!(found >= pairs * 3 / 4, "{found} of {pairs}");
}

#[test]
fn several_small_ones_are_found_one_after_the_other_and_add_up() {
    let effects = [(1, 0.8), (4, 0.8), (6, 0.85)];
    let ratio = 0.8 * 0.8 * 0.85;
    let (proof, _) = prove(question(8, 0, ratio), independent(&effects));
    assert_eq!(proof.ending, ProofEnding::Proven);
    let mut found: Vec<usize> = causes(&proof).concat();
    found.sort_unstable();
    assert_eq!(found, [1, 4, 6]);
    for cause in &proof.causes {
        assert!(cause.relation.is_none_or(|relation| relation == Relation::AddUp), "{cause:?}");
    }
    assert_eq!(proof.rest.map(|rest| rest.ratio), Some(1.0));
}

#[test]
fn two_of_which_each_is_enough_are_both_found_and_less_than_their_product() {
    let world =
        |changes: &[usize]| measured(if changes.iter().any(|it| [2, 5].contains(it)) { 0.6 } else { 1.0 });
    let (proof, _) = prove(question(8, 0, 0.6), world);
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![2], vec![5]]));
    assert_eq!(proof.causes[0].relation_to_rest, Some(Relation::LessTogether));
}

#[test]
fn changes_that_make_none_of_a_difference_are_not_blamed() {
    let asked = ProofQuestion { is_all: false, ..question(4, 1, 0.8) };
    let mut proving = Proving::new(asked);
    assert_eq!(proving.next_step(), ProofStep::Probe(Probe::Whole, ProbeLength::Usual));
    proving.note(Probe::Whole, ProbeLength::Usual, measured(0.8));
    let all = Probe::Changes(vec![0, 1, 2, 3]);
    assert_eq!(proving.next_step(), ProofStep::Probe(all.clone(), ProbeLength::Usual));
    proving.note(all, ProbeLength::Usual, measured(1.0));
    let ProofStep::End(proof) = proving.next_step() else { panic!() };
    assert_eq!((proof.ending, proof.causes.len()), (ProofEnding::NotTheChanges, 0));
    assert_eq!(proof.all_changes, Some(effect(1.0)));
}

#[test]
fn what_only_the_candidate_shows_is_blamed_on_no_change() {
    for changes in [1, 2, 3, 8] {
        for suspects in [0, 1] {
            let (proof, probes) =
                prove_beyond(question(changes, suspects, 0.5), measured(0.5), |_| measured(1.0));
            assert_eq!((proof.ending, causes(&proof)), (ProofEnding::NotTheChanges, vec![]), "{changes}");
            assert_eq!((proof.whole, proof.all_changes), (Some(effect(0.5)), Some(effect(1.0))));
            assert!(probes <= 5, "{probes} probes for {changes}");
        }
    }
}

#[test]
fn what_the_candidate_shows_beyond_a_cause_is_no_interaction() {
    for (whole, of_all) in [(0.35, Some(effect(0.5))), (0.7, Some(effect(0.5))), (0.5, None)] {
        let (proof, _) = prove_beyond(question(8, 0, whole), measured(whole), independent(&[(2, 0.5)]));
        assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![2]]), "{whole}");
        assert_eq!(proof.all_changes, of_all, "{whole}");
        assert_eq!(proof.causes[0].relation_to_rest, Some(Relation::AddUp), "{whole}");
    }
}

#[test]
fn a_part_of_a_difference_between_versions_is_that_of_settings() {
    let asked = ProofQuestion { is_all: false, ..question(4, 0, 0.4) };
    let mut proving = Proving::new(asked);
    proving.note(Probe::Whole, ProbeLength::Usual, measured(0.4));
    let world = independent(&[(2, 0.5)]);
    let proof = loop {
        match proving.next_step() {
            ProofStep::End(proof) => break proof,
            ProofStep::Probe(Probe::Changes(changes), length) => {
                let outcome = world(&changes);
                proving.note(Probe::Changes(changes), length, outcome);
            }
            ProofStep::Probe(Probe::Whole, _) => panic!("it is known"),
        }
    };
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![2]]));
    assert_eq!((proof.whole, proof.all_changes), (Some(effect(0.4)), Some(effect(0.5))));
}

#[test]
fn changes_are_not_acquitted_by_a_probe_that_was_not_decided_or_not_made() {
    let asked = ProofQuestion { is_all: false, ..question(4, 1, 0.8) };
    let mut proving = Proving::new(asked);
    proving.note(Probe::Whole, ProbeLength::Usual, measured(0.8));
    assert_eq!(proving.so_far().ending, ProofEnding::Unfinished);
    let interval = Interval { low: 0.8, high: 1.05, confidence: 0.998 };
    let noisy = ProbeEffect { ratio: 0.93, interval: Some(interval) };
    let all = Probe::Changes(vec![0, 1, 2, 3]);
    for length in [ProbeLength::Usual, ProbeLength::Longer] {
        assert_eq!(proving.next_step(), ProofStep::Probe(all.clone(), length));
        proving.note(all.clone(), length, ProbeOutcome::Measured(noisy));
        let proof = proving.so_far();
        assert_eq!((proof.ending, proof.all_changes), (ProofEnding::Undecided, Some(noisy)));
    }
    assert_eq!(proving.next_step(), ProofStep::End(proving.so_far()));
}

#[test]
fn a_difference_that_is_gone_is_said_to_be_gone() {
    for (repeated, ending, times) in [
        (measured(1.0), ProofEnding::Gone, 1),
        (measured(1.3), ProofEnding::Gone, 1),
        (measured(0.975), ProofEnding::Undecided, 2),
        (ProbeOutcome::Measured(ProbeEffect { ratio: 0.6, interval: None }), ProofEnding::Undecided, 2),
        (ProbeOutcome::Refused, ProofEnding::Refused, 1),
    ] {
        let (proof, probes) = prove(question(8, 1, 0.6), |_| repeated);
        assert_eq!((proof.ending, probes), (ending, times), "{repeated:?}");
    }
}

#[test]
fn sets_that_a_server_refuses_are_passed_by() {
    // Change 3 alone makes the difference. The server refuses every set that has change 6 but not change 1.
    let world = |changes: &[usize]| {
        let has = |change| changes.contains(&change);
        if has(6) && !has(1) {
            return ProbeOutcome::Refused;
        }
        measured(if has(3) { 0.5 } else { 1.0 })
    };
    let (proof, _) = prove(question(8, 0, 0.5), world);
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![3]]));
    // The server refuses each change alone, so only the two changes together show the difference.
    let world = |changes: &[usize]| if changes.len() == 2 { measured(0.5) } else { ProbeOutcome::Refused };
    let (proof, _) = prove(question(2, 0, 0.5), world);
    assert_eq!(causes(&proof), [[0, 1]]);
    assert_eq!((proof.causes[0].relation, proof.causes[0].without), (Some(Relation::Unclear), None));
}

#[test]
fn a_rest_whose_parts_are_refused_is_a_cause_as_a_whole() {
    // Changes 1, 2 and 3 make a difference together, but the server refuses each smaller set of them.
    let world = |changes: &[usize]| match changes.len() {
        4 => measured(0.4),
        _ if changes == [0] => measured(0.5),
        3 => measured(0.8),
        _ => ProbeOutcome::Refused,
    };
    let (proof, _) = prove(question(4, 1, 0.4), world);
    assert_eq!(causes(&proof), [vec![0], vec![1, 2, 3]]);
    assert_eq!(proof.causes[1].relation, Some(Relation::Unclear));
}

#[test]
fn a_proof_that_ends_early_has_what_was_proven_so_far() {
    let world = independent(&[(5, 0.5)]);
    let mut proving = Proving::new(question(8, 0, 0.5));
    assert_eq!(proving.so_far().ending, ProofEnding::Unfinished);
    let mut endings = Vec::new();
    while let ProofStep::Probe(probe, length) = proving.next_step() {
        let outcome = match &probe {
            Probe::Whole => measured(0.5),
            Probe::Changes(changes) => world(changes),
        };
        proving.note(probe, length, outcome);
        let proof = proving.so_far();
        assert!(proof.causes.iter().all(|cause| cause.changes.contains(&5)), "{proof:?}");
        endings.push(proof.ending);
    }
    assert_eq!(endings.first(), Some(&ProofEnding::NotNarrowed));
    assert_eq!(endings.last(), Some(&ProofEnding::Proven));
}

#[test]
fn probes_that_are_not_decided_blame_no_single_change() {
    // The difference exists. But for every set of fewer changes, the interval is so wide that it includes no difference
    // as well as most of the difference.
    let world = |changes: &[usize]| {
        let interval = Interval { low: 0.9, high: 1.01, confidence: 0.998 };
        let noisy = ProbeEffect { ratio: 0.96, interval: Some(interval) };
        if changes.len() == 8 { measured(0.9) } else { ProbeOutcome::Measured(noisy) }
    };
    let (proof, _) = prove(question(8, 2, 0.9), world);
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::NotNarrowed, vec![(0..8).collect()]));
    assert_eq!(proof.causes[0].relation, None);
}

#[test]
fn a_probe_that_decides_nothing_is_made_again_with_more_rounds() {
    // Change 2 makes the difference. For sets with change 2, the first interval is wide, and a longer probe
    // decides.
    let mut proving = Proving::new(question(8, 0, 0.5));
    let mut again = Vec::new();
    while let ProofStep::Probe(probe, length) = proving.next_step() {
        let outcome = match &probe {
            Probe::Changes(changes) if !changes.contains(&2) => measured(1.0),
            Probe::Changes(changes) if length == ProbeLength::Usual => {
                again.push(changes.clone());
                let interval = Interval { low: 0.3, high: 0.9, confidence: 0.998 };
                ProbeOutcome::Measured(ProbeEffect { ratio: 0.5, interval: Some(interval) })
            }
            _ => measured(0.5),
        };
        proving.note(probe, length, outcome);
    }
    let proof = proving.so_far();
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![2]]));
    assert_eq!(proof.causes[0].together, Some(effect(0.5)));
    assert_eq!(again, [vec![0, 1, 2, 3], vec![2, 3], vec![2]]);
}

#[test]
fn a_rest_that_is_not_decided_is_made_again_and_explained() {
    // Changes 0 and 3 each make a part of the difference. The usual probe of changes 1, 2 and 3 is undecided, and the
    // longer probe decides.
    let world = independent(&[(0, 0.6), (3, 0.85)]);
    let mut proving = Proving::new(question(4, 1, 0.51));
    let mut lengths = Vec::new();
    while let ProofStep::Probe(probe, length) = proving.next_step() {
        let outcome = match &probe {
            Probe::Whole => measured(0.51),
            Probe::Changes(changes) if *changes == [1, 2, 3] => {
                lengths.push(length);
                let interval = Interval { low: 0.65, high: 1.15, confidence: 0.998 };
                let noisy = ProbeEffect { ratio: 0.85, interval: Some(interval) };
                if length == ProbeLength::Usual { ProbeOutcome::Measured(noisy) } else { measured(0.85) }
            }
            Probe::Changes(changes) => world(changes),
        };
        proving.note(probe, length, outcome);
    }
    let proof = proving.so_far();
    assert_eq!(lengths, [ProbeLength::Usual, ProbeLength::Longer]);
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::Proven, vec![vec![0], vec![3]]));
}

#[test]
fn a_rest_is_small_only_if_its_whole_interval_is() {
    // Change 3 makes a quarter of the difference. At first, this quarter is measured as 15%, with an interval up to
    // 35%.
    let share = |share: f64| 0.5_f64.powf(share);
    let effects = [(0, share(0.75)), (3, share(0.25))];
    let world = independent(&effects);
    let interval = Interval { low: share(0.35), high: share(-0.05), confidence: 0.998 };
    let first = ProbeOutcome::Measured(ProbeEffect { ratio: share(0.15), interval: Some(interval) });
    let of_rest = |later: ProbeOutcome| {
        let mut proving = Proving::new(question(4, 1, 0.5));
        while let ProofStep::Probe(probe, length) = proving.next_step() {
            let outcome = match &probe {
                Probe::Whole => measured(0.5),
                Probe::Changes(changes) if *changes == [1, 2, 3] => match length {
                    ProbeLength::Usual => first,
                    ProbeLength::Longer => later,
                },
                Probe::Changes(changes) => world(changes),
            };
            proving.note(probe, length, outcome);
        }
        let proof = proving.so_far();
        (proof.ending, causes(&proof))
    };
    assert_eq!(of_rest(measured(share(0.25))), (ProofEnding::Proven, vec![vec![0], vec![3]]));
    assert_eq!(of_rest(measured(share(0.1))), (ProofEnding::Proven, vec![vec![0]]));
    assert_eq!(of_rest(first), (ProofEnding::Partly, vec![vec![0]]));
}

#[test]
fn a_probe_that_fails_when_it_is_made_again_is_not_decided_and_not_refused() {
    // The probes of each change alone are undecided, and the server refuses the repetitions. If change 1 counted as
    // refused, change 0 would be called necessary.
    let interval = Interval { low: 0.6, high: 1.1, confidence: 0.998 };
    let noisy = ProbeOutcome::Measured(ProbeEffect { ratio: 0.8, interval: Some(interval) });
    let mut proving = Proving::new(question(2, 0, 0.5));
    while let ProofStep::Probe(probe, length) = proving.next_step() {
        let outcome = match (&probe, length) {
            (Probe::Changes(changes), ProbeLength::Usual) if changes.len() == 1 => noisy,
            (Probe::Changes(changes), ProbeLength::Longer) if changes.len() == 1 => ProbeOutcome::Refused,
            _ => measured(0.5),
        };
        proving.note(probe, length, outcome);
    }
    let proof = proving.so_far();
    assert_eq!((proof.ending, causes(&proof)), (ProofEnding::NotNarrowed, vec![vec![0, 1]]));
    assert_eq!(proof.causes[0].alone, [Some(ProbeEffect { ratio: 0.8, interval: Some(interval) }); 2]);
}

#[test]
fn a_set_that_shows_the_difference_spares_another_its_further_rounds() {
    // Changes 0 to 3 are undecided, and changes 4 to 7 show the difference.
    let interval = Interval { low: 0.6, high: 1.1, confidence: 0.998 };
    let noisy = ProbeOutcome::Measured(ProbeEffect { ratio: 0.8, interval: Some(interval) });
    let world = |changes: &[usize]| match changes {
        [0, 1, 2, 3] => noisy,
        changes if changes.contains(&5) => measured(0.5),
        _ => measured(1.0),
    };
    let (proof, probes) = prove(question(8, 0, 0.5), world);
    assert_eq!((proof.ending, causes(&proof), probes), (ProofEnding::Proven, vec![vec![5]], 7));
}

#[test]
fn a_wrong_cause_is_as_rare_as_the_error_that_a_proof_may_have() {
    // Only all changes together make the difference. Each probe gives a wrong result with its permitted
    // probability.
    let mut random = SplitMix64::new(7);
    let mut wrong = 0;
    for _ in 0..1000 {
        let mut proving = Proving::new(question(8, 1, 0.9));
        let one_in = proving.probes_max() * 20;
        while let ProofStep::Probe(probe, length) = proving.next_step() {
            let is_all = matches!(&probe, Probe::Changes(changes) if changes.len() == 8);
            let is_there = probe == Probe::Whole || is_all || random.below(one_in) == 0;
            proving.note(probe, length, measured(if is_there { 0.9 } else { 1.0 }));
        }
        wrong += u32::from(proving.so_far().causes[0].changes.len() < 8);
    }
    // If 5% of the proofs are wrong, 50 of 1000 are expected. The limit adds three standard deviations.
    assert!((1..=70).contains(&wrong), "{wrong} of 1000");
}
