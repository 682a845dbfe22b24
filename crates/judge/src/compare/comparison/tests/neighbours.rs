//! Rounds that neighbours disturbed do not count as replicates.

use super::*;
use crate::sample::disturb_in;

#[test]
fn disturbed_rounds_do_not_count_and_the_others_decide() {
    let mut run = run_with(&[1.2], 12);
    // Neighbours halved the candidate's rate in some rounds.
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if trial.system_id == "new" && trial.round < 4 {
            trial.measured.as_mut().unwrap().seconds *= 2.0;
        }
    }
    disturb_in(&mut run, "s0", "new", 0..4, 2_000_000);
    let found = judge(&run);
    assert_eq!(findings(&found), [Finding::Improved]);
    assert_eq!((first(&found).rounds.len(), first(&found).candidate_rounds), (8, 8));
    let disturbed = first(&found).disturbed.unwrap();
    assert_eq!((disturbed.rounds, disturbed.of), (4, 12));
    run.record.counts_disturbed = true;
    assert_eq!((first(&judge(&run)).rounds.len(), first(&judge(&run)).disturbed), (12, None));
}

#[test]
fn too_few_undisturbed_rounds_decide_nothing_however_clear_the_ratio_is() {
    let mut run = run_with(&[5.0, 1.0], 9);
    disturb_in(&mut run, "s0", "old", 0..9, 9_000_000);
    let found = judge(&run);
    assert_eq!(findings(&found), [Finding::NotEnoughEvidence, Finding::Same]);
    assert_eq!((found.outcome, first(&found).ratio), (GateOutcome::NotDecided, None));
    let Some(Undecided::Disturbed(disturbed)) = first(&found).undecided else { panic!("{found:?}") };
    assert_eq!((disturbed.rounds, disturbed.of, disturbed.cpus), (9, 9, 2));
    assert!((disturbed.others_cpus - 0.9).abs() < 1e-9);
    assert_eq!(found.disturbed(), Some(DisturbedTests { tests: 1, of: 2, worst: disturbed }));
    run.record.counts_disturbed = true;
    assert_eq!(findings(&judge(&run))[0], Finding::Improved);
}

#[test]
fn weak_neighbours_change_nothing() {
    let mut run = run_with(&[1.2], 12);
    disturb_in(&mut run, "s0", "new", 0..12, 500_000);
    assert_eq!((findings(&judge(&run)), first(&judge(&run)).disturbed), (vec![Finding::Improved], None));
}

#[test]
fn runs_without_turns_lose_their_disturbed_rounds_too() {
    let (old, mut new) = (anchored(1, vec![1000.0; 8]), anchored(2, vec![1000.0; 8]));
    let judged = |new: &Run| compare(&[(subject(&old, "db"), subject(new, "db"))], &Rule::default());
    assert_eq!(findings(&judged(&new)), [Finding::Same]);
    disturb_in(&mut new, "s0", "db", 1..4, 9_000_000);
    disturb_in(&mut new, "s0", "pinned", 4..8, 9_000_000);
    let found = judged(&new);
    assert_eq!(first(&found).candidate_rounds, 5);
    assert!(matches!(first(&found).undecided, Some(Undecided::Disturbed(it)) if it.rounds == 7), "{found:?}");
}

/// Records that the hypervisor took `steal_us` of CPU time during each of a system's trials of the first step, which
/// last ten seconds on two CPUs.
fn steal_in(run: &mut Run, system: &str, steal_us: u64) {
    disturb_in(run, "s0", system, 0..12, 0);
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record).filter(|it| it.system_id == system) {
        trial.neighbours.neighbour_steal_us = Some(steal_us);
    }
}

#[test]
fn steal_beside_one_of_two_systems_is_its_own_and_counts() {
    let mut run = run_with(&[1.2], 12);
    steal_in(&mut run, "new", 1_000_000);
    steal_in(&mut run, "old", 10_000);
    assert_eq!((findings(&judge(&run)), first(&judge(&run)).disturbed), (vec![Finding::Improved], None));
    steal_in(&mut run, "old", 1_000_000);
    assert_eq!(findings(&judge(&run)), [Finding::NotEnoughEvidence]);
}
