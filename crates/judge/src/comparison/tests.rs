use dyno_stats::Margin;
use dyno_store::{Operation, Run};

use super::*;
use crate::Quantity;
use crate::rule::Correction;
use crate::sample::{add_step, around, fail, run};

fn within(run: &Run, base: &str, candidate: &str, rule: &Rule) -> Judgement {
    compare(&[(Subject { run, system: base }, Subject { run, system: candidate })], rule)
}

fn judge(run: &Run) -> Judgement {
    within(run, "old", "new", &Rule::default())
}

/// A run with a step for each ratio, named by its place.
fn run_with(ratios: &[f64], trials: usize) -> Run {
    let mut run = run(1, &["old", "new"]);
    for (at, ratio) in (0..).zip(ratios) {
        let rates = [
            ("old", around(1000.0, 0.003, trials, at)),
            ("new", around(1000.0 * ratio, 0.003, trials, at + 100)),
        ];
        add_step(&mut run, "reads", &format!("s{at}"), 4, &rates);
    }
    run
}

fn findings(judgement: &Judgement) -> Vec<Finding> {
    judgement.comparisons[0].tests.iter().map(|test| test.finding).collect()
}

#[test]
fn each_test_gets_its_verdict_and_the_worst_decides() {
    let judgement = judge(&run_with(&[1.0, 1.2, 0.8], 12));
    assert_eq!(findings(&judgement), [Finding::Same, Finding::Improved, Finding::Regressed]);
    assert_eq!(judgement.outcome, GateOutcome::SomeRegressed);
    let test = &judgement.comparisons[0].tests[2];
    assert!(test.is_paired && test.pairs == 12 && !test.rules_out_regression);
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
    let judgement = judge(&run);
    assert_eq!(findings(&judgement), [Finding::Same, Finding::NotEnoughEvidence]);
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn few_trials_are_not_enough_and_it_says_how_many_are() {
    let judgement = judge(&run_with(&[0.5, 1.0], 3));
    assert_eq!(findings(&judgement), [Finding::NotEnoughEvidence; 2]);
    assert_eq!(judgement.outcome, GateOutcome::NotEnoughEvidence);
    let more: Vec<_> = judgement.comparisons[0].tests.iter().map(|test| test.more_rounds).collect();
    // An alarm among two tests takes 7 pairs, sameness 6.
    assert_eq!(more, [Some(4), Some(3)]);
}

#[test]
fn many_tests_take_more_evidence_each() {
    let ratios = [&[0.9][..], &[1.0; 9][..]].concat();
    let six = run_with(&ratios, 6);
    assert_eq!(findings(&judge(&six))[0], Finding::NotEnoughEvidence);
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
    let often = Rule { looks: 4, ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &often)), [Finding::NotEnoughEvidence]);
}

#[test]
fn a_candidate_that_fails_is_worse_and_a_base_that_fails_proves_nothing() {
    let mut run = run_with(&[1.0, 1.0], 12);
    fail(&mut run, "s1", "new");
    assert_eq!(findings(&judge(&run)), [Finding::Same, Finding::Failed]);
    assert_eq!(judge(&run).outcome, GateOutcome::SomeRegressed);
    let turned = within(&run, "new", "old", &Rule::default());
    assert_eq!(findings(&turned), [Finding::Same, Finding::Unjudged]);
    assert_eq!(turned.outcome, GateOutcome::NoneRegressed);
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
    (load.seconds, load.operation) = (None, Operation::Row);
    let judgement = judge(&run);
    assert_eq!(findings(&judgement), [Finding::Same, Finding::Unjudged]);
    assert_eq!(judgement.comparisons[0].tests[1].ratio, Some(0.5));
    assert_eq!(judgement.outcome, GateOutcome::NoneRegressed);
}

#[test]
fn a_noisy_pair_of_equals_widens_the_margin() {
    let mut run = run(1, &["old", "twin", "new"]);
    run.systems[1].twin_of = Some("old".to_owned());
    let rates = [
        ("old", vec![1000.0; 12]),
        ("twin", around(1000.0, 0.1, 12, 1)),
        ("new", around(960.0, 0.003, 12, 2)),
    ];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let judgement = judge(&run);
    assert_eq!(findings(&judgement), [Finding::Same]);
    assert!(judgement.comparisons[0].tests[0].margin > Margin::new(0.03).unwrap());
    run.systems[1].twin_of = None;
    assert_eq!(findings(&judge(&run)), [Finding::Regressed]);
    let given = Rule { twins: vec![("twin".to_owned(), "old".to_owned())], ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &given)), [Finding::Same]);
}

#[test]
fn runs_are_compared_unpaired_unless_they_took_turns() {
    let make = |id, rate| {
        let mut run = run(id, &["db"]);
        add_step(&mut run, "reads", "s0", 4, &[("db", around(rate, 0.005, 10, id as u64))]);
        run
    };
    let (old, mut new) = (make(1, 1000.0), make(2, 900.0));
    let judge = |old: &Run, new: &Run| {
        let subject = |run| Subject { run, system: "db" };
        compare(&[(subject(old), subject(new))], &Rule::default())
    };
    let judgement = judge(&old, &new);
    let test = &judgement.comparisons[0].tests[0];
    assert_eq!((test.finding, test.is_paired), (Finding::Regressed, false));
    assert!((test.ratio.unwrap() - 0.9).abs() < 0.01);
    for (new, old) in new.trials.iter_mut().zip(&old.trials) {
        new.record.started_at_ms = old.record.started_at_ms + 100;
    }
    assert!(judge(&old, &new).comparisons[0].tests[0].is_paired);
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
    assert_eq!(findings(&within(&run, "old", "new", &unmeasured)), [Finding::Unjudged]);
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
}

#[test]
fn findings_have_stable_names_for_programs() {
    let json = serde_json::to_value(judge(&run_with(&[1.0], 12))).unwrap();
    assert_eq!(json["outcome"], "none_regressed");
    assert_eq!(json["comparisons"][0]["tests"][0]["finding"], "same");
    assert_eq!(json["comparisons"][0]["base"]["run"], 1);
    assert_eq!(json["rule"]["margin"], 0.02);
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
