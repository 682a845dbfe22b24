//! Geometric means over tests.

use super::*;

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
    // In each round, all tests vary equally, except for rounding to whole operations. The mean is therefore as
    // uncertain as each test.
    let of_one = judgement.comparisons[0].tests[0].interval.unwrap();
    let width = |interval: Interval| interval.high / interval.low;
    assert!((width(interval) / width(of_one) - 1.0).abs() < 0.001, "{interval:?} {of_one:?}");
    assert!(interval.low < 0.92 && interval.high > 1.15, "{interval:?}");
}

#[test]
fn a_mean_is_of_the_tests_that_every_round_has() {
    let mut run = run_with(&[1.0, 1.1, 1.21], 8);
    // The last round is incomplete, and one test failed once.
    run.trials.retain(|trial| trial.record.round < 7 || trial.record.step_id == "s0");
    fail_in(&mut run, "s2", "old", 2..3);
    let judgement = judge(&run);
    let all = judgement.comparisons[0].overall.as_ref().unwrap();
    assert_eq!((all.tests, all.rounds), (3, 6));
    assert!((all.ratio - 1.1).abs() < 0.005);
}
