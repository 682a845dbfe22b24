use dyno_stats::{Looks, Margin, Method};
use dyno_store::Run;

use super::*;
use crate::compare::comparison::compare;
use crate::sample::{add_step, around, fail_in, memory_limit, run, seconds, slice};
use crate::trial::check::TrialChecks;
use crate::trial::member::ComparedSystem;
use crate::trial::quantity::Quantity;
use crate::{DisturbanceLimits, check_trial};

fn three(rounds: usize) -> Run {
    let mut run = run(1, &["old", "new", "other"]);
    for (at, step) in (0..).zip(["point", "range"]) {
        let rates = [
            ("old", around(1000.0, 0.003, rounds, at)),
            ("new", around(1200.0, 0.003, rounds, at + 10)),
            ("other", around(1000.0, 0.003, rounds, at + 20)),
        ];
        add_step(&mut run, "reads", step, 4, &rates);
    }
    run
}

fn analysis(run: &Run) -> Analysis {
    analyse(run, &TrialChecks::new(), &Rule::default())
}

#[test]
fn every_pair_of_systems_is_judged_with_each_base_a_family() {
    let run = three(12);
    let found = analysis(&run);
    assert_eq!(
        (found.systems.as_slice(), found.base.as_deref()),
        (&["old", "new", "other"].map(str::to_owned)[..], Some("old"))
    );
    assert_eq!(found.against.len(), 3);
    let finding = |base, candidate| found.comparison(base, candidate).unwrap().tests[0].finding;
    assert_eq!(finding("old", "new"), Finding::Improved);
    assert_eq!(finding("new", "old"), Finding::Regressed);
    assert_eq!(finding("old", "other"), Finding::Same);
    assert!(found.comparison("old", "old").is_none() && found.judgement("none").is_none());
    assert!(found.open_tests("old").next().is_none() && analysis(&three(1)).open_tests("old").count() > 0);
}

#[test]
fn an_analysis_and_a_comparison_of_the_same_systems_say_the_same() {
    let run = three(7);
    let checks = TrialChecks::new();
    let subject = |system| ComparedSystem { run: &run, checks: &checks, system };
    let pairs = ["new", "other"].map(|other| (subject("old"), subject(other)));
    assert_eq!(analysis(&run).judgement("old"), Some(&compare(&pairs, &Rule::default())));
}

#[test]
fn the_looks_are_the_run_s() {
    let looks = Looks::new(20, Rule::default().alpha, 1).unwrap();
    let look = looks.at[0];
    let mut run = three(look.rounds);
    (run.record.rounds, run.record.looks) = (20, looks.at.len() as u32);
    let found = analysis(&run);
    assert_eq!((found.rule.look, found.against[0].rule.look), (Some(look), Some(look)));
    let interval = found.comparison("old", "new").unwrap().tests[0].interval.unwrap();
    assert!(interval.confidence >= 1.0 - look.alpha);
}

#[test]
fn cells_have_their_rounds_costs_and_failures() {
    let mut run = three(3);
    fail_in(&mut run, "range", "new", 1..2);
    let found = analysis(&run);
    let cell = &found.tests[1].cells[1];
    assert_eq!(cell.rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((cell.failed, cell.warnings.as_slice()), (1, &[CellWarning::Failed { rounds: 1, of: 3 }][..]));
    let cpu = &cell.costs[&Quantity::ServerCpu];
    assert!((cpu.median - 40.0).abs() < 1e-9 && cpu.rounds.len() == 2);
    assert!(!cell.costs.contains_key(&Quantity::Throughput));
    let rates: Vec<f64> = cell.rounds.iter().map(|round| round.value).collect();
    assert_eq!(cell.rate, dyno_stats::median(&rates));
}

#[test]
fn what_the_rounds_are_worth_is_told() {
    let mut run = three(6);
    run.record.rounds = 8;
    let found = analysis(&run).replication;
    assert_eq!((found.rounds_planned, found.rounds, found.is_fresh), (8, 6, true));
    assert_eq!(
        found.restart_seconds,
        Some(5.0),
        "three starts of 2 s together, three warm-ups of 1 s in turn"
    );
    assert!(found.between_instances.unwrap() < 0.01 && found.between_slices.is_none());
    assert_eq!((found.intervals, found.exclusions), (4, 2));
    // With six rounds, an interval excludes 1 by chance with a probability of 2/2^6 = 1/32.
    assert!((found.exclusions_expected - 4.0 / 32.0).abs() < 1e-12);
    run.systems[0].origin = dyno_store::Origin::Dsn;
    assert!(!analysis(&run).replication.is_fresh);
}

#[test]
fn intervals_of_one_round_are_not_counted() {
    let mut run = three(1);
    for (salt, trial) in (0..).zip(&mut run.trials) {
        slice(&mut trial.record, &around(1000.0, 0.05, 40, salt));
    }
    let found = analysis(&run);
    let test = &found.comparison("old", "new").unwrap().tests[0];
    assert!(test.method == Method::ThisPairOnly && test.interval.is_some());
    assert_eq!((found.replication.intervals, found.replication.between_instances), (0, None));
    assert!(found.replication.between_slices.is_some());
}

/// A run of three systems whose trials have slices. `change` returns how much a system's rate grows during a trial.
fn courses(change: impl Fn(&str) -> f64) -> Run {
    let mut run = three(3);
    for (salt, trial) in (0..).zip(&mut run.trials) {
        let change = change(&trial.record.system_id);
        let rates = (0..).zip(around(10_000.0, 0.02, 60, salt));
        let rates: Vec<f64> = rates.map(|(at, rate)| rate * (1.0 + change * f64::from(at) / 60.0)).collect();
        slice(&mut trial.record, &rates);
    }
    run
}

#[test]
fn a_rate_that_rises_against_the_others_has_no_level() {
    let warnings = |run: &Run| -> Vec<Vec<CellWarning>> {
        analysis(run).tests[0].cells.iter().map(|cell| cell.warnings.clone()).collect()
    };
    let found = warnings(&courses(|system| if system == "new" { 0.2 } else { 0.0 }));
    let [CellWarning::NoLevel { rounds: 3, of: 3, change }] = found[1][..] else { panic!("{found:?}") };
    assert!((change - 1.2).abs() < 0.04 && found[0].is_empty() && found[2].is_empty(), "{found:?}");
    assert!(warnings(&courses(|_| 0.2)).iter().all(Vec::is_empty), "the host drifts");
    assert!(warnings(&courses(|_| 0.6)).iter().all(|warnings| warnings.len() == 1), "too far for a drift");
}

#[test]
fn trials_in_one_stretch_are_judged_by_their_seconds() {
    let run = three(6);
    let check = |trial: &dyno_store::Trial| {
        let rise = if trial.record.system_id == "new" { 20.0 } else { 0.0 };
        let rates: Vec<f64> = (0..20).map(|at| 1000.0 + rise * f64::from(at)).collect();
        (trial.id, check_trial(&run, trial, &seconds(&rates), &DisturbanceLimits::default()))
    };
    let checks: TrialChecks = run.trials.iter().map(check).collect();
    let found = analyse(&run, &checks, &Rule::default());
    let test = &found.comparison("old", "new").unwrap().tests[0];
    assert_eq!(test.undecided, Some(crate::Undecided::NoLevel { system: "new".to_owned() }));
    assert!(matches!(found.tests[0].cells[1].warnings[..], [CellWarning::NoLevel { .. }]));
    assert_eq!(found.comparison("old", "other").unwrap().tests[0].finding, Finding::Same);
}

#[test]
fn work_between_slices_and_disturbances_are_named() {
    let mut run = three(3);
    let own =
        |trial: &&mut dyno_store::Trial| trial.record.system_id == "old" && trial.record.step_id == "point";
    for trial in run.trials.iter_mut().filter(own) {
        trial.record.rest_cpu_us = Some(200_000);
    }
    let found = analysis(&run);
    let [CellWarning::WorksBetweenSlices { share }] = found.tests[0].cells[0].warnings[..] else {
        panic!("{:?}", found.tests[0].cells[0].warnings)
    };
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn work_between_slices_counts_where_it_exceeds_the_margin() {
    let is_named = |share: f64, margin: Margin| {
        let mut run = three(3);
        for record in run.trials.iter_mut().map(|trial| &mut trial.record) {
            let usage = &record.usage;
            let busy_us = usage.server_user_cpu_us.unwrap_or(0) + usage.server_system_cpu_us.unwrap_or(0);
            assert!(busy_us > 0);
            record.rest_cpu_us = Some((share * busy_us as f64) as u64);
        }
        let found = analyse(&run, &TrialChecks::new(), &Rule { margin, ..Rule::default() });
        let is_it = |warning: &CellWarning| matches!(warning, CellWarning::WorksBetweenSlices { .. });
        found.tests[0].cells.iter().all(|cell| cell.warnings.iter().any(is_it))
    };
    assert_eq!([0.01, 0.03, 0.09].map(|share| is_named(share, Margin::least())), [false, true, true]);
    let [none, five] = [0.0, 0.05].map(|margin| Margin::new(margin).unwrap());
    assert_eq!([0.001, 0.01].map(|share| is_named(share, none)), [false, true]);
    assert_eq!([0.03, 0.06].map(|share| is_named(share, five)), [false, true]);
}

#[test]
fn limits_and_tables_that_were_not_the_plan_s_are_warned_of() {
    let mut run = three(3);
    add_step(&mut run, "load", "load", 1, &[("old", vec![50.0]), ("new", vec![50.0])]);
    fail_in(&mut run, "load", "new", 0..1);
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record).filter(|trial| trial.step_id == "point")
    {
        match (trial.system_id.as_str(), trial.round) {
            ("other", 1) => trial.limits = Some(memory_limit("512M")),
            ("other", 2) => trial.limits = Some(memory_limit("64M")),
            ("other", _) => {}
            (_, round) if round > 0 => trial.loaded_again = vec!["load".to_owned()],
            _ => {}
        }
    }
    let found = analysis(&run);
    let warnings: Vec<&[CellWarning]> =
        found.tests[0].cells.iter().map(|cell| cell.warnings.as_slice()).collect();
    let again = |never_measured| CellWarning::LoadedAgain {
        rounds: 2,
        of: 3,
        loads: vec!["load".to_owned()],
        never_measured,
    };
    assert_eq!(warnings[..2], [&[again(false)][..], &[again(true)]]);
    let differences = memory_limit("512M").differences;
    assert_eq!(warnings[2], [CellWarning::LimitsDiffer { rounds: 2, of: 3, differences }]);
    assert!(found.tests[1].cells.iter().all(|cell| cell.warnings.is_empty()));
}
