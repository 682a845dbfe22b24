//! Measurements that differ from the plan: failures, data loads that are measured only once, controls, reused
//! instances.

use dyno_store::LimitsRecord;

use super::*;

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
    assert_eq!(judge(&run).outcome, GateOutcome::NotDecided);
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
fn a_pair_of_equals_that_differs_raises_the_margin_of_alarms_and_makes_nothing_the_same() {
    let mut run = run(1, &["old", "control", "new"]);
    run.systems[1].control_of = Some("old".to_owned());
    let rates = [
        ("old", vec![1000.0; 12]),
        ("control", around(950.0, 0.003, 12, 1)),
        ("new", around(960.0, 0.003, 12, 2)),
    ];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let judgement = judge(&run);
    let test = first(&judgement);
    assert_eq!(test.finding, Finding::NotEnoughEvidence, "it is certainly 4% slower");
    assert!(test.alarm_margin > Margin::new(0.05).unwrap() && test.margin == Margin::new(0.02).unwrap());
    assert!(!test.rules_out_regression);
    run.systems[1].control_of = None;
    assert_eq!(findings(&self::judge(&run)), [Finding::Regressed]);
    let given = Rule { controls: vec![("control".to_owned(), "old".to_owned())], ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &given)), [Finding::NotEnoughEvidence]);
}

#[test]
fn a_noisy_pair_of_equals_hides_no_difference() {
    let mut run = run(1, &["old", "control", "new"]);
    run.systems[1].control_of = Some("old".to_owned());
    let rates = [
        ("old", vec![1000.0; 12]),
        ("control", around(1000.0, 0.1, 12, 1)),
        ("new", around(960.0, 0.003, 12, 2)),
    ];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let judgement = judge(&run);
    assert_eq!(first(&judgement).finding, Finding::Regressed);
    assert_eq!(first(&judgement).alarm_margin, Margin::least());
}

#[test]
fn a_control_is_no_candidate() {
    let mut run = run(1, &["old", "control", "new"]);
    run.systems[1].control_of = Some("old".to_owned());
    let rates = [
        ("old", vec![1000.0; 6]),
        ("control", around(1000.0, 0.1, 6, 1)),
        ("new", around(1500.0, 0.003, 6, 2)),
    ];
    add_step(&mut run, "reads", "s0", 4, &rates);
    let base = subject(&run, "old");
    let judgement =
        compare(&[(base, subject(&run, "control")), (base, subject(&run, "new"))], &Rule::default());
    let [control, new] = judgement.comparisons.as_slice() else { panic!("two comparisons") };
    assert!(control.is_control && !new.is_control);
    // With a single test in the family, six rounds are enough for an alarm.
    assert_eq!(new.tests[0].finding, Finding::Improved);
    assert_eq!(control.tests[0].finding, Finding::NotEnoughEvidence);
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
fn a_system_whose_threads_alone_were_pinned_is_named() {
    let mut run = run_with(&[1.0], 6);
    let base = |run: &mut Run, client_cpu_us| {
        let trials = run.trials.iter_mut().map(|trial| &mut trial.record);
        for trial in trials.filter(|trial| trial.system_id == "old") {
            trial.usage.client_user_cpu_us = client_cpu_us;
        }
    };
    base(&mut run, Some(1));
    let pin = |run: &mut Run, system: &str, rounds: std::ops::Range<u32>| {
        let trials = run.trials.iter_mut().map(|trial| &mut trial.record);
        for trial in trials.filter(|trial| trial.system_id == system && rounds.contains(&trial.round)) {
            let in_force = serde_json::json!({ LimitsRecord::PINNED: "1" });
            trial.limits = Some(LimitsRecord { in_force, ..LimitsRecord::default() });
        }
    };
    pin(&mut run, "new", 0..6);
    let warning = |system: &str, rounds| TestWarning::PinnedAlone { system: system.to_owned(), rounds };
    assert_eq!(first(&judge(&run)).warnings, [warning("new", 6)]);
    base(&mut run, None);
    assert_eq!(first(&judge(&run)).warnings, [], "an in-process engine has no thread to pin");
    base(&mut run, Some(1));
    pin(&mut run, "old", 1..6);
    assert_eq!(first(&judge(&run)).warnings, [warning("new", 1)]);
    pin(&mut run, "old", 0..6);
    assert_eq!(first(&judge(&run)).warnings, []);
}

#[test]
fn a_run_in_which_more_rounds_failed_is_worse() {
    let make = |id| anchored(id, around(1000.0, 0.005, 6, id as u64));
    let (old, mut new) = (make(1), make(2));
    fail_in(&mut new, "s0", "db", 0..1);
    let judge = |old: &Run, new: &Run| compare(&[(subject(old, "db"), subject(new, "db"))], &Rule::default());
    assert_eq!(findings(&judge(&old, &new)), [Finding::Failed]);
    assert_eq!(findings(&judge(&new, &old)), [Finding::Same]);
}
