use dyno_stats::SplitMix64;
use dyno_store::{Neighbours, TrialId};

use super::*;
use crate::sample;

const ROUNDS: u32 = 6;

/// A completed trial of ten seconds on two CPUs, with this share of steal.
fn trial(system: &str, round: u32, steal_share: f64) -> Trial {
    let neighbours = Neighbours {
        watched_us: Some(10_000_000),
        watched_cpus: Some(2),
        neighbour_cpu_us: Some(0),
        neighbour_steal_us: Some((steal_share * 2e7) as u64),
    };
    let record = TrialRecord { neighbours, ..sample::trial("update", system, 8, round, 1000.0) };
    Trial { id: TrialId(i64::from(round)), record }
}

/// The trials of systems with these shares of steal in each round.
fn trials(systems: &[(&str, &[f64])]) -> Vec<Trial> {
    let of_system = |(system, shares): &(&str, &[f64])| -> Vec<Trial> {
        (0..).zip(*shares).map(|(round, share)| trial(system, round, *share)).collect()
    };
    systems.iter().flat_map(of_system).collect()
}

/// The usual steal of a system, and in which of its rounds neighbours disturbed it.
fn found(trials: &[Trial], system: &str) -> (Option<f64>, Vec<u32>) {
    let own = OwnSteal::of(trials);
    let of_system: Vec<&TrialRecord> =
        trials.iter().map(|trial| &trial.record).filter(|record| record.system_id == system).collect();
    let is_disturbed = |record: &&&TrialRecord| {
        disturbance(record, &own.limits(record)).is_some_and(|found| found.is_disturbed)
    };
    let disturbed = of_system.iter().filter(is_disturbed).map(|record| record.round).collect();
    (own.share(of_system[0]), disturbed)
}

/// As measured on a virtual machine under Firecracker, whose servers wrote to a disk in turns.
const OWN: [f64; 6] = [0.102, 0.097, 0.103, 0.091, 0.100, 0.095];
const QUIET: [f64; 6] = [0.002, 0.003, 0.0, 0.004, 0.002, 0.001];

#[test]
fn steal_that_stays_with_a_system_is_its_own() {
    let trials = trials(&[("writes", &OWN), ("reads", &QUIET)]);
    let (share, disturbed) = found(&trials, "writes");
    assert!((share.unwrap() - 0.0985).abs() < 1e-6);
    assert_eq!(disturbed, [0; 0]);
    assert_eq!(found(&trials, "reads"), (None, vec![]));
}

#[test]
fn a_neighbour_beside_own_steal_disturbs() {
    let mut shares = OWN;
    shares[2] = 0.2;
    let (share, disturbed) = found(&trials(&[("writes", &shares), ("reads", &QUIET)]), "writes");
    assert!(share.is_some());
    assert_eq!(disturbed, [2]);
}

#[test]
fn other_processes_disturb_in_spite_of_own_steal() {
    let mut trials = trials(&[("writes", &OWN), ("reads", &QUIET)]);
    trials[3].record.neighbours.neighbour_cpu_us = Some(4_000_000);
    assert_eq!(found(&trials, "writes").1, [3]);
}

#[test]
fn steal_beside_all_systems_is_a_neighbours() {
    let every: Vec<u32> = (0..ROUNDS).collect();
    let trials = trials(&[("a", &OWN), ("b", &OWN)]);
    assert_eq!(found(&trials, "a"), (None, every));
}

#[test]
fn steal_that_comes_and_goes_is_a_neighbours() {
    let gone = [0.102, 0.097, 0.004, 0.091, 0.100, 0.095];
    let weak = [0.102, 0.097, 0.040, 0.091, 0.100, 0.095];
    for shares in [gone, weak] {
        let (share, disturbed) = found(&trials(&[("writes", &shares), ("reads", &QUIET)]), "writes");
        assert!(share.is_none() && disturbed.len() >= 5, "{shares:?}: {disturbed:?}");
    }
}

#[test]
fn a_few_rounds_do_not_show_it() {
    let (share, _) = found(&trials(&[("writes", &OWN[..5]), ("reads", &QUIET[..5])]), "writes");
    assert_eq!(share, None);
}

#[test]
fn a_system_that_was_not_there_in_every_round_is_no_witness() {
    let (share, _) = found(&trials(&[("writes", &OWN), ("reads", &QUIET[..5])]), "writes");
    assert_eq!(share, None);
}

#[test]
fn slices_show_nothing_of_one_system() {
    let mut trials = trials(&[("writes", &OWN), ("reads", &QUIET)]);
    for trial in &mut trials {
        trial.record.slices = vec![dyno_store::SliceRecord::default()];
    }
    assert_eq!(found(&trials, "writes").0, None);
}

/// A neighbour works during some trials, always equally hard. Each trial is hit with the same probability.
#[test]
fn a_neighbour_at_random_hardly_ever_looks_like_own_steal() {
    let mut random = SplitMix64::new(11);
    for systems in [2, 3, 8, 24] {
        let ids: Vec<String> = (0..systems).map(|system| format!("s{system}")).collect();
        let mut trials: Vec<Trial> =
            ids.iter().flat_map(|id| (0..ROUNDS).map(move |round| trial(id, round, 0.0))).collect();
        for probability in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let mut is_mistaken = || {
                for trial in &mut trials {
                    let is_hit = (random.draw() as f64) < probability * u64::MAX as f64;
                    trial.record.neighbours.neighbour_steal_us = Some(if is_hit { 2_000_000 } else { 0 });
                }
                !OwnSteal::of(&trials).0.is_empty()
            };
            let mistaken = (0..1000).filter(|_| is_mistaken()).count();
            assert!(mistaken <= 10, "{systems} systems, {probability}: {mistaken} of 1000");
        }
    }
}
