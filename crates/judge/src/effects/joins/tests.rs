use dyno_store::{JoinRecord, Run, Trial};

use super::*;
use crate::sample::{add_step, run, seconds};
use crate::trial::check::{TrialChecks, check_trial};
use crate::{Analysis, Claim, ClaimState, DisturbanceLimits, analyse};

const JOINS: [(f64, u32); 2] = [(3.0, 4), (6.0, 16)];
const LENGTH: usize = 9;

/// A run with a step `mixed` of nine seconds in which writers join. `rates` returns the rates of the step and of
/// the writers in a second.
fn mixed(
    systems: &[&str],
    rounds: usize,
    rates: impl Fn(&str, u32, usize) -> (f64, f64),
) -> (Run, TrialChecks) {
    let mut run = run(1, systems);
    let of_all: Vec<_> = systems.iter().map(|system| (*system, vec![1000.0; rounds])).collect();
    add_step(&mut run, "mixed", "mixed", 64, &of_all);
    add_step(&mut run, "mixed", "mixed.writers", 64, &of_all);
    run.steps[1].background_of = Some("mixed".to_owned());
    run.steps[1].joins = JOINS.map(|(at_seconds, clients)| JoinRecord { at_seconds, clients }).to_vec();
    let check = |trial: &Trial| {
        let record = &trial.record;
        let rate = |second| rates(&record.system_id, record.round, second);
        let is_own = record.step_id == "mixed";
        let course: Vec<f64> =
            (0..LENGTH).map(|second| if is_own { rate(second).0 } else { rate(second).1 }).collect();
        (trial.id, check_trial(&run, trial, &seconds(&course), &DisturbanceLimits::default()))
    };
    let checks: TrialChecks = run.trials.iter().map(check).collect();
    (run, checks)
}

/// The rates of reads and of writes. Reads fall to a half with 4 writers and to a quarter with 16. In each second in
/// which writers join, both rates are 1.
fn falling(system: &str, round: u32, second: usize) -> (f64, f64) {
    let full = if system == "new" { 20_000.0 } else { 10_000.0 } + f64::from(round) * 40.0;
    match second {
        0..3 => (full, 0.0),
        3 | 6 => (1.0, 1.0),
        4..6 => (full * 0.5, 400.0),
        _ => (full * 0.25, 1600.0),
    }
}

fn analysed(run: &Run, checks: &TrialChecks) -> Analysis {
    analyse(run, checks, &Rule::default())
}

#[test]
fn stretches_lie_between_joins_and_leave_out_their_seconds() {
    let joins = JOINS.map(|(at_seconds, clients)| JoinRecord { at_seconds, clients });
    let rates: Vec<f64> = (0..9).map(f64::from).collect();
    assert_eq!(stretch_rates(&rates, &joins), [Some(1.0), Some(4.5), Some(7.5)]);
    assert_eq!(stretch_rates(&rates[..7], &joins), [Some(1.0), Some(4.5), None], "it ends with a join");
    assert_eq!(stretch_rates(&rates[..2], &joins), [Some(0.5), None, None]);
    let within = [JoinRecord { at_seconds: 2.4, clients: 1 }, JoinRecord { at_seconds: 3.9, clients: 2 }];
    assert_eq!(
        stretch_rates(&rates, &within),
        [Some(0.5), None, Some(6.0)],
        "a stretch without a whole second"
    );
}

#[test]
fn reads_are_told_for_each_number_of_writers_with_what_is_left_of_them() {
    let (run, checks) = mixed(&["old", "new"], 7, falling);
    let found = analysed(&run, &checks).joined;
    let [test] = &found[..] else { panic!("{found:?}") };
    assert_eq!((test.step.as_str(), test.background.as_str(), test.clients), ("mixed", "mixed.writers", 64));
    let old = &test.systems[0];
    let joined: Vec<u32> = old.stretches.iter().map(|stretch| stretch.joined).collect();
    assert_eq!(joined, [0, 4, 16]);
    assert_eq!(old.stretches[0].rate, Some(10_120.0), "the median of seven rounds");
    assert_eq!(old.stretches[2].background_rate, Some(1600.0));
    let kept = old.stretches[2].kept.unwrap();
    assert!((kept.ratio - 0.25).abs() < 1e-9 && kept.rounds == 7 && kept.method == Method::Exact, "{kept:?}");
    assert!(kept.interval.is_some_and(|interval| interval.high < 0.26));
    assert!(old.stretches[0].kept.is_none() && old.stretches.iter().all(|it| it.against_base.is_none()));
    let against = test.systems[1].stretches[1].against_base.unwrap();
    assert!((against.ratio - 2.0).abs() < 0.03, "{against:?}");
    assert_eq!(old.seconds.len(), LENGTH);
    assert_eq!((old.seconds[8].at_seconds, old.seconds[8].background_rate), (8, Some(1600.0)));
}

#[test]
fn a_rate_that_falls_when_clients_join_is_not_taken_for_a_trend() {
    let (run, checks) = mixed(&["old"], 3, falling);
    for check in checks.values() {
        assert_eq!((check.steadiness, check.level, check.variation), (None, None, None));
    }
    assert!(analysed(&run, &checks).tests.iter().all(|test| test.cells[0].warnings.is_empty()));
}

#[test]
fn a_failed_trial_and_a_system_that_is_not_planned_have_no_figures() {
    let (mut run, checks) = mixed(&["old", "new", "other"], 3, falling);
    crate::sample::fail(&mut run, "mixed", "old");
    run.steps[0].not_for = vec!["other".to_owned()];
    let test = &analysed(&run, &checks).joined[0];
    assert_eq!(test.systems.len(), 2);
    assert!(test.systems[0].stretches.iter().all(|stretch| stretch.rate.is_none()));
    assert!(test.systems[0].seconds.is_empty());
    let new = &test.systems[1].stretches[1];
    assert!(new.rate.is_some() && new.against_base.is_none(), "there is no base");
}

#[test]
fn without_a_background_trial_reads_are_told_alone() {
    let (mut run, checks) = mixed(&["old"], 3, falling);
    run.trials.retain(|trial| trial.record.step_id == "mixed");
    let stretch = &analysed(&run, &checks).joined[0].systems[0].stretches[1];
    assert!(stretch.rate.is_some() && stretch.background_rate.is_none());
}

#[test]
fn a_claim_may_be_about_a_number_of_joined_clients() {
    let (run, checks) = mixed(&["old", "new"], 6, falling);
    let state = |text: &str| Claim::parse(text).unwrap().judge(&run, &checks).unwrap().state;
    assert_eq!(state("ratio(new, old, throughput, mixed, 64, 0) > 1.9"), ClaimState::Supported);
    let quarter = "value(old, throughput, mixed, 64, 16) < 0.3 * value(old, throughput, mixed, 64, 0)";
    assert_eq!(state(quarter), ClaimState::Supported);
    assert_eq!(state("value(old, throughput, mixed.writers, 64, 4) > 500"), ClaimState::Refuted);
    for (text, message) in [
        (
            "value(old, throughput, mixed, 64, 5) > 1",
            "column 1: there is no number of joined clients '5'; there is 0, 4, 16",
        ),
        (
            "value(old, p99_us, mixed, 64, 4) > 1",
            "column 1: with a number of joined clients, only throughput can be claimed",
        ),
    ] {
        let error = Claim::parse(text).unwrap().check(&run.systems, &run.steps).unwrap_err().to_string();
        assert_eq!(error, message, "{text}");
    }
}
