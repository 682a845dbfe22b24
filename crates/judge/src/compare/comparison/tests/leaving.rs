//! Runs that stopped measuring some tests before the run's end. The names here call this "leaving" a test.

use dyno_store::LeftTest;

use super::*;

/// Number of rounds after which the first of two looks takes place. The second look is after all 10 rounds.
const FIRST_LOOK: u32 = 7;
const ROUNDS: u32 = 10;

/// A run with one test for each element of `tests`: the ratio of the two systems, and the number of rounds after which
/// the run stopped measuring the test.
fn left_run(tests: &[(f64, u32)]) -> Run {
    let ratios: Vec<f64> = tests.iter().map(|(ratio, _)| *ratio).collect();
    let mut run = planned(run_with(&ratios, ROUNDS as usize), ROUNDS);
    for (at, (_, rounds)) in tests.iter().enumerate().filter(|(_, (_, rounds))| *rounds < 10) {
        let step = format!("s{at}");
        run.trials.retain(|trial| trial.record.step_id != step || trial.record.round < *rounds);
        run.left_tests.push(LeftTest { step, clients: 4, last_round: rounds - 1 });
    }
    run
}

/// The run as it was after `rounds` rounds.
fn after(run: &Run, rounds: u32) -> Run {
    let mut run = run.clone();
    run.trials.retain(|trial| trial.record.round < rounds);
    run.left_tests.retain(|left| left.last_round + 1 < rounds);
    run
}

#[test]
fn a_test_that_was_left_keeps_the_verdict_of_its_look() {
    let run = left_run(&[(1.2, FIRST_LOOK), (1.0, FIRST_LOOK), (1.018, 10), (0.8, 10)]);
    let (then, now) = (judge(&after(&run, FIRST_LOOK)), judge(&run));
    let (then, now) = (&then.comparisons[0].tests, &now.comparisons[0].tests);
    assert_eq!(now[..2], then[..2], "as if no round had followed");
    assert_eq!((now[0].finding, now[1].finding), (Finding::Improved, Finding::Same));
    assert_eq!((now[0].rounds.len(), now[3].rounds.len()), (7, 10));
    assert_eq!(now[3].finding, Finding::Regressed);
    assert!(now[3].p_adjusted < then[3].p_adjusted, "more rounds count: {:?}", now[3].p_adjusted);
}

#[test]
fn a_verdict_of_an_earlier_look_decides_the_gate() {
    let regressed = left_run(&[(0.8, FIRST_LOOK), (1.0, 10)]);
    assert_eq!(judge(&regressed).outcome, GateOutcome::SomeRegressed);
    let same = left_run(&[(1.0, FIRST_LOOK), (1.2, 10)]);
    assert_eq!(judge(&same).outcome, GateOutcome::NoneRegressed);
}

#[test]
fn means_are_of_all_tests_and_not_of_those_that_went_on() {
    let run = left_run(&[(2.0, FIRST_LOOK), (2.0, FIRST_LOOK), (1.0, 10), (1.0, 10), (1.0, 10), (1.0, 10)]);
    let mean = judge(&run).comparisons[0].overall.clone().unwrap();
    assert_eq!((mean.tests, mean.rounds), (6, 7));
    assert!((mean.ratio.ln() - 2.0_f64.ln() / 3.0).abs() < 0.01, "{mean:?}");
}

#[test]
fn equals_alarm_no_more_often_if_those_that_look_alike_are_left() {
    let mut alarms = 0;
    for salt in 0..100 {
        let mut whole = run(1, &["old", "new"]);
        for at in 0..6 {
            let rates = |of: u64| around(1000.0, 0.05, 10, 1_000 * salt + 10 * at + of);
            add_step(&mut whole, "reads", &format!("s{at}"), 4, &[("old", rates(0)), ("new", rates(1))]);
        }
        let mut whole = planned(whole, ROUNDS);
        let rule = Rule { margin: Margin::new(0.0).unwrap(), ..Rule::default() };
        let look = within(&after(&whole, FIRST_LOOK), "old", "new", &rule);
        // After the look, only the test with the smallest p-value is measured further. Of all choices, this one makes
        // false alarms most likely.
        let tests = &look.comparisons[0].tests;
        let clearest = tests.iter().min_by(|a, b| a.p.partial_cmp(&b.p).unwrap()).unwrap();
        for test in tests.iter().filter(|test| test.step != clearest.step) {
            let is_later = |trial: &dyno_store::Trial| {
                trial.record.step_id == test.step && trial.record.round >= FIRST_LOOK
            };
            whole.trials.retain(|trial| !is_later(trial));
            let left = LeftTest { step: test.step.clone(), clients: 4, last_round: FIRST_LOOK - 1 };
            whole.left_tests.push(left);
        }
        let judged = within(&whole, "old", "new", &rule);
        let has_alarm =
            |test: &TestComparison| matches!(test.finding, Finding::Improved | Finding::Regressed);
        alarms += u32::from(judged.comparisons[0].tests.iter().any(has_alarm));
    }
    // If alarms have a probability of 5%, more than 12 alarms in 100 families occur by chance in only one case in a
    // thousand.
    assert!(alarms <= 12, "{alarms} of 100");
}
