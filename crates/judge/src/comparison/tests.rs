use dyno_stats::Margin;
use dyno_store::{Operation, Run};

use super::*;
use crate::Quantity;
use crate::rule::Correction;
use crate::sample::{add_step, around, fail, fail_in, run, slice};

static NO_CHECKS: TrialChecks = TrialChecks::new();

fn subject<'a>(run: &'a Run, system: &'a str) -> Subject<'a> {
    Subject { run, checks: &NO_CHECKS, system }
}

fn within(run: &Run, base: &str, candidate: &str, rule: &Rule) -> Judgement {
    compare(&[(subject(run, base), subject(run, candidate))], rule)
}

fn judge(run: &Run) -> Judgement {
    within(run, "old", "new", &Rule::default())
}

/// A run with a step for each ratio, named by its place.
fn run_with(ratios: &[f64], rounds: usize) -> Run {
    let mut run = run(1, &["old", "new"]);
    for (at, ratio) in (0..).zip(ratios) {
        let rates = [
            ("old", around(1000.0, 0.003, rounds, at)),
            ("new", around(1000.0 * ratio, 0.003, rounds, at + 100)),
        ];
        add_step(&mut run, "reads", &format!("s{at}"), 4, &rates);
    }
    run
}

/// A run of one step, in which both systems have slices of these rates in every round.
fn sliced(rounds: usize, rates: impl Fn(&str, u32) -> Vec<f64>) -> Run {
    let mut run = run_with(&[1.0], rounds);
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let rates = rates(&trial.system_id, trial.round);
        slice(trial, &rates);
    }
    run
}

fn findings(judgement: &Judgement) -> Vec<Finding> {
    judgement.comparisons[0].tests.iter().map(|test| test.finding).collect()
}

fn first(judgement: &Judgement) -> &TestComparison {
    &judgement.comparisons[0].tests[0]
}

#[test]
fn each_test_gets_its_verdict_and_the_worst_decides() {
    let judgement = judge(&run_with(&[1.0, 1.2, 0.8], 12));
    assert_eq!(findings(&judgement), [Finding::Same, Finding::Improved, Finding::Regressed]);
    assert_eq!(judgement.outcome, GateOutcome::SomeRegressed);
    let test = &judgement.comparisons[0].tests[2];
    assert!(test.method == Method::Exact && test.rounds.len() == 12 && !test.rules_out_regression);
    assert_eq!((test.undecided.clone(), test.base_rounds, test.candidate_rounds), (None, 12, 12));
    assert!((test.ratio.unwrap() - 0.8).abs() < 0.01);
    assert!(test.interval.unwrap().high < 0.82);
}

#[test]
fn a_gate_opens_where_every_test_rules_out_a_regression() {
    let judgement = judge(&run_with(&[1.0, 1.2], 12));
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
    // Better or the same cannot be told, but worse it is not.
    let mut run = run_with(&[1.0], 12);
    let rates = [("old", around(1000.0, 0.001, 12, 1)), ("new", around(1020.0, 0.02, 12, 2))];
    add_step(&mut run, "reads", "close", 4, &rates);
    let judgement = self::judge(&run);
    assert_eq!(findings(&judgement), [Finding::Same, Finding::NotEnoughEvidence]);
    assert_eq!(judgement.comparisons[0].tests[1].undecided, Some(Undecided::Interval));
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn one_round_is_never_enough_and_it_says_how_many_are() {
    let judgement = judge(&run_with(&[0.5, 1.0], 1));
    assert_eq!(findings(&judgement), [Finding::NotEnoughEvidence; 2]);
    assert_eq!(judgement.outcome, GateOutcome::NotEnoughEvidence);
    let tests = &judgement.comparisons[0].tests;
    assert_eq!(tests[0].undecided, Some(Undecided::TooFewRounds { rounds: 1, wanted: 3 }));
    assert_eq!(
        (tests[0].method, tests[0].interval, tests[0].rules_out_regression),
        (Method::None, None, false)
    );
    let more: Vec<_> = tests.iter().map(|test| test.more_rounds).collect();
    // Nothing is known but that sameness takes 6 rounds.
    assert_eq!(more, [Some(6), Some(5)], "an alarm among two tests takes 7");
}

#[test]
fn a_few_rounds_are_judged_by_student_s_t() {
    let judgement = judge(&run_with(&[0.5, 1.0], 4));
    assert_eq!(findings(&judgement), [Finding::Regressed, Finding::Same]);
    assert_eq!(first(&judgement).method, Method::StudentT);
    let two = judge(&run_with(&[0.5, 1.0], 2));
    assert_eq!(
        findings(&two),
        [Finding::NotEnoughEvidence; 2],
        "two starts of a server may be alike by chance"
    );
    assert_eq!(first(&two).undecided, Some(Undecided::TooFewRounds { rounds: 2, wanted: 3 }));
    assert!(first(&two).interval.is_some() && !first(&two).rules_out_regression);
}

#[test]
fn one_round_s_slices_speak_of_this_pair_of_servers_only() {
    let judgement =
        judge(&sliced(1, |system, _| around(if system == "old" { 1000.0 } else { 800.0 }, 0.05, 60, 3)));
    let test = first(&judgement);
    assert_eq!((test.finding, test.method), (Finding::NotEnoughEvidence, Method::ThisPairOnly));
    let interval = test.interval.unwrap();
    assert!(interval.low < 0.8 && 0.8 < interval.high + 0.02 && interval.high < 0.85, "{interval:?}");
    assert_eq!((test.rounds[0].slices, test.between_instances), (60, None));
    assert!(test.rounds[0].standard_error.is_some() && test.between_slices.is_some());
    assert_eq!(judgement.outcome, GateOutcome::NotEnoughEvidence);
    let overall = judgement.comparisons[0].overall.as_ref().unwrap();
    assert_eq!((overall.method, overall.rounds), (Method::ThisPairOnly, 1));
}

#[test]
fn slices_of_one_cycle_are_compared_so_what_moves_both_is_no_difference() {
    // The host is slower by a fifth in some cycles, and drifts by a tenth.
    let host = |cycle: f64| (1.0 + cycle / 600.0) * if (20.0..30.0).contains(&cycle) { 0.8 } else { 1.0 };
    let rates = |system: &str, round: u32| -> Vec<f64> {
        let own = if system == "old" { 1000.0 } else { 950.0 };
        let noise = around(1.0, 0.01, 60, u64::from(round) + if system == "old" { 0 } else { 50 });
        (0..).map(f64::from).zip(noise).map(|(cycle, noise)| 10.0 * own * noise * host(cycle)).collect()
    };
    let judgement = judge(&sliced(8, rates));
    let test = first(&judgement);
    assert_eq!(test.finding, Finding::Regressed);
    assert!(test.rounds.iter().all(|round| (round.ratio - 0.95).abs() < 0.004), "{:?}", test.rounds);
    assert!(test.between_instances.unwrap() < 0.002 && test.warnings.is_empty());
}

#[test]
fn servers_that_differ_from_start_to_start_are_told_from_slices_that_do() {
    let rates = |system: &str, round: u32| {
        let instance = if system == "new" && round % 2 == 0 { 1.2 } else { 1.0 };
        around(10_000.0 * instance, 0.05, 100, u64::from(round) * 2 + u64::from(system == "new"))
    };
    let judgement = judge(&sliced(10, rates));
    let test = first(&judgement);
    assert_eq!(test.finding, Finding::NotEnoughEvidence, "half of the starts are faster, half are not");
    assert!((test.between_instances.unwrap() - 0.096).abs() < 0.02, "{:?}", test.between_instances);
    // The difference of two numbers uniform from -5% to 5%.
    assert!((test.between_slices.unwrap() - 0.041).abs() < 0.01, "{:?}", test.between_slices);
}

#[test]
fn a_rate_without_level_is_not_judged() {
    let course = |system: &str, at: f64, round: u32| -> Vec<f64> {
        let noise = around(1.0, 0.02, 80, u64::from(round) + if system == "old" { 0 } else { 50 });
        (0..80)
            .zip(noise)
            .map(|(cycle, noise)| 10_000.0 * noise * (1.0 + at * f64::from(cycle) / 80.0))
            .collect()
    };
    let rising_alone =
        sliced(6, |system, round| course(system, if system == "new" { 0.2 } else { 0.0 }, round));
    let judgement = judge(&rising_alone);
    assert_eq!(first(&judgement).finding, Finding::Unjudged);
    assert_eq!(first(&judgement).undecided, Some(Undecided::NoLevel { system: "new".to_owned() }));
    assert_eq!(first(&judgement).p, None, "it is in no family");
    let rising_together = sliced(6, |system, round| course(system, 0.2, round));
    assert_eq!(findings(&judge(&rising_together)), [Finding::Same]);
    let far = sliced(6, |system, round| course(system, 0.6, round));
    assert_eq!(findings(&judge(&far)), [Finding::Unjudged]);
}

#[test]
fn a_ratio_that_stalls_make_is_named() {
    let rates = |system: &str, round: u32| -> Vec<f64> {
        let mut rates = around(10_000.0, 0.01, 100, u64::from(round) + if system == "old" { 0 } else { 50 });
        if system == "new" {
            rates.iter_mut().step_by(10).for_each(|rate| *rate = 100.0);
        }
        rates
    };
    let judgement = judge(&sliced(6, rates));
    let [TestWarning::Stalls { whole_ratio }] = first(&judgement).warnings[..] else {
        panic!("{:?}", first(&judgement).warnings)
    };
    assert!((whole_ratio - 0.9).abs() < 0.01 && first(&judgement).ratio.unwrap() > 0.99);
}

#[test]
fn many_tests_take_more_evidence_each() {
    let ratios = [&[0.9][..], &[1.0; 9][..]].concat();
    let six = run_with(&ratios, 6);
    assert_eq!(findings(&judge(&six))[0], Finding::NotEnoughEvidence);
    let test = &judge(&six).comparisons[0].tests[0];
    // 2/2⁹ ≤ 0.05/10.
    assert_eq!(test.undecided, Some(Undecided::TooFewRounds { rounds: 6, wanted: 9 }));
    assert_eq!(test.more_rounds, Some(3));
    let alone = Rule { correction: Correction::None, ..Rule::default() };
    assert_eq!(findings(&within(&six, "old", "new", &alone))[0], Finding::Regressed);
    let only = Rule { steps: vec!["s0".to_owned()], ..Rule::default() };
    assert_eq!(findings(&within(&six, "old", "new", &only)), [Finding::Regressed]);
    assert_eq!(findings(&judge(&run_with(&ratios, 12)))[0], Finding::Regressed);
}

#[test]
fn looking_often_takes_more_evidence_too() {
    let run = run_with(&[0.9], 6);
    assert_eq!(findings(&judge(&run)), [Finding::Regressed]);
    let noisy = |looks| {
        let mut noisy = run_with(&[], 8);
        noisy.record.looks = looks;
        let rates = [("old", vec![1000.0; 8]), ("new", [vec![900.0; 7], vec![1100.0]].concat())];
        add_step(&mut noisy, "reads", "s0", 4, &rates);
        noisy
    };
    let margin_of_nothing = Rule {
        margin: Margin::new(0.0).unwrap(),
        correction: Correction::None,
        alpha: 0.1,
        ..Rule::default()
    };
    assert_eq!(findings(&within(&noisy(1), "old", "new", &margin_of_nothing)), [Finding::Regressed]);
    let judgement = within(&noisy(4), "old", "new", &margin_of_nothing);
    assert_eq!((findings(&judgement), judgement.rule.looks), (vec![Finding::NotEnoughEvidence], 4));
}

#[test]
fn a_candidate_that_fails_is_worse_and_a_base_that_fails_proves_nothing() {
    let mut run = run_with(&[1.0, 1.0], 12);
    fail(&mut run, "s1", "new");
    assert_eq!(findings(&judge(&run)), [Finding::Same, Finding::Failed]);
    assert_eq!(judge(&run).outcome, GateOutcome::SomeRegressed);
    let turned = within(&run, "new", "old", &Rule::default());
    assert_eq!(findings(&turned), [Finding::Same, Finding::Unjudged]);
    assert_eq!(turned.comparisons[0].tests[1].undecided, Some(Undecided::BaseFailed));
    assert_eq!(turned.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn a_candidate_that_fails_now_and_then_is_worse_too() {
    let mut run = run_with(&[1.2], 12);
    fail_in(&mut run, "s0", "new", 3..5);
    let judgement = judge(&run);
    assert_eq!((first(&judgement).finding, first(&judgement).rules_out_regression), (Finding::Failed, false));
    assert_eq!(first(&judgement).warnings, [TestWarning::CandidateFailed { rounds: 2, of: 12 }]);
    assert!(first(&judgement).ratio.unwrap() > 1.1);
    let turned = within(&run, "new", "old", &Rule::default());
    assert_eq!(first(&turned).finding, Finding::Regressed, "ten rounds are enough");
    assert_eq!(first(&turned).warnings, [TestWarning::BaseFailed { rounds: 2, of: 12 }]);
    fail_in(&mut run, "s0", "old", 3..5);
    assert_eq!(findings(&judge(&run)), [Finding::Improved], "where both fail, the candidate is not worse");
}

#[test]
fn a_test_that_nobody_ran_yet_holds_the_gate() {
    let mut run = run_with(&[1.0, 1.0], 12);
    run.trials.retain(|trial| trial.record.step_id != "s1");
    assert_eq!(findings(&judge(&run)), [Finding::Same, Finding::NotEnoughEvidence]);
    assert_eq!(judge(&run).outcome, GateOutcome::NotEnoughEvidence);
}

#[test]
fn a_load_that_is_made_once_does_not_count() {
    let mut run = run_with(&[1.0], 12);
    add_step(&mut run, "load", "load", 1, &[("old", vec![100.0]), ("new", vec![50.0])]);
    let load = run.steps.last_mut().unwrap();
    (load.seconds, load.operation, load.command) = (None, Operation::Row, "prepare".to_owned());
    let judgement = judge(&run);
    assert_eq!(findings(&judgement), [Finding::Same, Finding::Unjudged]);
    let test = &judgement.comparisons[0].tests[1];
    assert_eq!((test.ratio, test.undecided.clone()), (Some(0.5), Some(Undecided::MeasuredOnce)));
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn a_noisy_pair_of_equals_raises_the_margin_of_alarms_and_makes_nothing_the_same() {
    let mut run = run(1, &["old", "twin", "new"]);
    run.systems[1].twin_of = Some("old".to_owned());
    let rates = [
        ("old", vec![1000.0; 12]),
        ("twin", around(1000.0, 0.1, 12, 1)),
        ("new", around(960.0, 0.003, 12, 2)),
    ];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let judgement = judge(&run);
    let test = first(&judgement);
    assert_eq!(test.finding, Finding::NotEnoughEvidence, "it is certainly 4% slower");
    assert!(test.alarm_margin > Margin::new(0.03).unwrap() && test.margin == Margin::new(0.02).unwrap());
    assert!(!test.rules_out_regression);
    run.systems[1].twin_of = None;
    assert_eq!(findings(&self::judge(&run)), [Finding::Regressed]);
    let given = Rule { twins: vec![("twin".to_owned(), "old".to_owned())], ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &given)), [Finding::NotEnoughEvidence]);
}

#[test]
fn a_twin_is_no_candidate() {
    let mut run = run(1, &["old", "twin", "new"]);
    run.systems[1].twin_of = Some("old".to_owned());
    let rates =
        [("old", vec![1000.0; 6]), ("twin", around(1000.0, 0.1, 6, 1)), ("new", around(1500.0, 0.003, 6, 2))];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let base = subject(&run, "old");
    let judgement = compare(&[(base, subject(&run, "twin")), (base, subject(&run, "new"))], &Rule::default());
    let [twin, new] = judgement.comparisons.as_slice() else { panic!("two comparisons") };
    assert!(twin.is_twin && !new.is_twin);
    // Alone in the family, six rounds are enough for an alarm.
    assert_eq!(new.tests[0].finding, Finding::Improved);
    assert_eq!(twin.tests[0].finding, Finding::NotEnoughEvidence);
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn a_server_that_lives_on_is_named() {
    let mut run = run_with(&[1.0], 6);
    for instance in
        run.instances.iter_mut().filter(|instance| instance.system_id == "old" && instance.round > 0)
    {
        instance.is_fresh = false;
    }
    let judgement = judge(&run);
    assert_eq!(first(&judgement).warnings, [TestWarning::NotFresh { system: "old".to_owned() }]);
}

#[test]
fn runs_are_compared_unpaired_unless_they_took_turns() {
    let make = |id, rate, rounds| {
        let mut run = run(id, &["db"]);
        add_step(&mut run, "reads", "s0", 4, &[("db", around(rate, 0.005, rounds, id as u64))]);
        run
    };
    let judge = |old: &Run, new: &Run| compare(&[(subject(old, "db"), subject(new, "db"))], &Rule::default());
    let (old, mut new) = (make(1, 1000.0, 5), make(2, 900.0, 7));
    let judgement = judge(&old, &new);
    let test = first(&judgement);
    assert_eq!((test.finding, test.method), (Finding::Regressed, Method::Unpaired));
    assert_eq!((test.base_rounds, test.candidate_rounds, test.rounds.len()), (5, 7, 0));
    assert!((test.ratio.unwrap() - 0.9).abs() < 0.01);
    let few = judge(&make(1, 1000.0, 3), &make(2, 900.0, 3));
    assert_eq!(first(&few).undecided, Some(Undecided::TooFewRounds { rounds: 3, wanted: 4 }));
    assert_eq!((first(&few).more_rounds, first(&few).method), (Some(1), Method::None));
    for (new, old) in new.trials.iter_mut().zip(&old.trials) {
        new.record.started_at_ms = old.record.started_at_ms + 100;
    }
    assert_eq!(first(&judge(&old, &new)).rounds.len(), 5);
}

#[test]
fn a_run_in_which_more_rounds_failed_is_worse() {
    let make = |id| {
        let mut run = run(id, &["db"]);
        add_step(&mut run, "reads", "s0", 4, &[("db", around(1000.0, 0.005, 6, id as u64))]);
        run
    };
    let (old, mut new) = (make(1), make(2));
    fail_in(&mut new, "s0", "db", 0..1);
    let judge = |old: &Run, new: &Run| compare(&[(subject(old, "db"), subject(new, "db"))], &Rule::default());
    assert_eq!(findings(&judge(&old, &new)), [Finding::Failed]);
    assert_eq!(findings(&judge(&new, &old)), [Finding::Same]);
}

#[test]
fn a_lower_cost_is_an_improvement() {
    let mut run = run_with(&[1.0], 12);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.system_id == "new") {
        trial.record.usage.server_user_cpu_us = trial.record.usage.server_user_cpu_us.map(|cpu| cpu / 2);
    }
    let rule = Rule { quantity: Quantity::ServerCpu, ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &rule)), [Finding::Improved]);
    let unmeasured = Rule { quantity: Quantity::Fsyncs, ..Rule::default() };
    let judgement = within(&run, "old", "new", &unmeasured);
    assert_eq!(findings(&judgement), [Finding::Unjudged]);
    assert_eq!(first(&judgement).undecided, Some(Undecided::NotMeasured));
    // Costs come along without verdict; 30 of 40 µs are halved.
    let cost = judge(&run).comparisons[0].tests[0].costs[&Quantity::ServerCpu];
    assert!((cost.ratio - 0.625).abs() < 1e-3 && cost.method == Method::Exact, "{cost:?}");
}

#[test]
fn groups_and_all_tests_have_a_mean_with_its_interval() {
    let mut run = run_with(&[1.0, 1.21], 8);
    let rates = [("old", around(500.0, 0.003, 8, 50)), ("new", around(250.0, 0.003, 8, 51))];
    add_step(&mut run, "writes", "w", 4, &rates);
    let comparison = &judge(&run).comparisons[0];
    assert_eq!(comparison.groups.len(), 1, "a group of one test is that test");
    let reads = &comparison.groups[0];
    assert!((reads.ratio - 1.1).abs() < 0.005 && reads.tests == 2, "{reads:?}");
    let interval = reads.interval.unwrap();
    assert!(interval.low < 1.1 && 1.1 < interval.high && interval.high - interval.low < 0.02, "{interval:?}");
    let all = comparison.overall.as_ref().unwrap();
    assert!((all.ratio - (1.21_f64 * 0.5).cbrt()).abs() < 0.005 && all.tests == 3);
    assert_eq!((all.method, all.rounds), (Method::Exact, 8));
}

#[test]
fn a_mean_is_as_unsure_as_the_servers_are_whatever_the_number_of_tests() {
    let mut run = run(1, &["old", "new"]);
    let instance = [1.1, 0.9, 1.0, 1.2, 0.85, 0.95, 1.15, 1.0];
    for at in 0..20 {
        let new: Vec<f64> = instance.iter().map(|own| own * (1000.0 + f64::from(at))).collect();
        add_step(&mut run, "reads", &format!("s{at}"), 4, &[("old", vec![1000.0; 8]), ("new", new)]);
    }
    let judgement = judge(&run);
    let interval = judgement.comparisons[0].overall.as_ref().unwrap().interval.unwrap();
    assert!(interval.low < 0.9 && interval.high > 1.15, "{interval:?}");
}

#[test]
fn a_mean_is_of_the_tests_that_every_round_has() {
    let mut run = run_with(&[1.0, 1.1, 1.21], 8);
    // The last round was only begun, and one test failed once.
    run.trials.retain(|trial| trial.record.round < 7 || trial.record.step_id == "s0");
    fail_in(&mut run, "s2", "old", 2..3);
    let judgement = judge(&run);
    let all = judgement.comparisons[0].overall.as_ref().unwrap();
    assert_eq!((all.tests, all.rounds), (3, 6));
    assert!((all.ratio - 1.1).abs() < 0.005);
}

#[test]
fn findings_have_stable_names_for_programs() {
    let json = serde_json::to_value(judge(&run_with(&[1.0], 12))).unwrap();
    assert_eq!(json["outcome"], "none_regressed");
    assert_eq!(json["comparisons"][0]["tests"][0]["finding"], "same");
    assert_eq!(json["comparisons"][0]["base"]["run"], 1);
    assert_eq!(json["rule"]["margin"], 0.02);
    assert_eq!(json["comparisons"][0]["tests"][0]["method"], "exact");
    assert_eq!(json["comparisons"][0]["tests"][0]["costs"]["server_cpu"]["method"], "exact");
    let undecided = serde_json::to_value(Undecided::TooFewRounds { rounds: 1, wanted: 3 }).unwrap();
    assert_eq!(undecided["reason"], "too_few_rounds");
}

/// Runs of equals with 2% noise, twelve tests and eight trials each.
#[test]
fn equals_pass_the_gate_but_for_the_share_of_alarms_promised() {
    let experiments = 200;
    let alarms = (0..experiments).filter(|experiment| {
        let mut run = run(1, &["old", "new"]);
        for at in 0..12 {
            let salt = experiment * 1000 + at;
            let rates =
                [("old", around(1000.0, 0.04, 8, salt)), ("new", around(1000.0, 0.04, 8, salt + 500))];
            add_step(&mut run, "reads", &format!("s{at}"), 4, &rates);
        }
        let rule = Rule { margin: Margin::new(0.0).unwrap(), ..Rule::default() };
        let judgement = within(&run, "old", "new", &rule);
        findings(&judgement).iter().any(|finding| matches!(finding, Finding::Improved | Finding::Regressed))
    });
    // 5% of 200, and 3.1 standard deviations.
    assert!(alarms.count() <= 20);
}
