use std::collections::BTreeMap;

use dyno_judge::{GroupMean, Side};
use dyno_stats::Interval;
use dyno_store::Operation;

use super::*;

fn side(id: &str) -> Side {
    Side {
        run: 1,
        runs: vec![1],
        system: id.to_owned(),
        name: id.to_owned(),
        engine_version: None,
        not_in_force: Vec::new(),
    }
}

fn test(finding: Finding, ratio: Option<f64>) -> TestComparison {
    let margin = Rule::default().margin;
    TestComparison {
        disturbed: None,
        group: "all".to_owned(),
        step: String::new(),
        clients: 4,
        operation: Operation::Query,
        finding,
        undecided: None,
        gate: dyno_judge::GateVote::Open,
        base: None,
        candidate: None,
        base_rounds: 10,
        candidate_rounds: 10,
        ratio,
        interval: ratio.map(|ratio| Interval { low: ratio * 0.9, high: ratio * 1.1, confidence: 0.97 }),
        method: Method::Exact,
        replicates: dyno_judge::Replicates::PairedRounds,
        rounds: Vec::new(),
        margin,
        alarm_margin: margin,
        p: None,
        p_adjusted: None,
        more_rounds: None,
        rules_out_regression: false,
        between_loads: None,
        between_instances: None,
        between_slices: None,
        costs: BTreeMap::new(),
        warnings: Vec::new(),
    }
}

/// Candidate `b` against base `a`, with a test for each finding and ratio.
fn comparison(tests: &[(Finding, f64)]) -> Comparison {
    let of = |(number, (finding, ratio)): (usize, &(Finding, f64))| TestComparison {
        step: format!("test-{number}"),
        ..test(*finding, (*ratio > 0.0).then_some(*ratio))
    };
    Comparison {
        base: side("a"),
        candidate: side("b"),
        is_control: false,
        same_for: None,
        differences: Vec::new(),
        anchor: None,
        tests: tests.iter().enumerate().map(of).collect(),
        groups: Vec::new(),
        overall: None,
    }
}

fn of(comparison: &Comparison) -> String {
    summary(comparison, &Rule::default())
}

fn says(tests: &[(Finding, f64)]) -> String {
    of(&comparison(tests))
}

use Finding::{Failed, Improved, NotEnoughEvidence, Regressed, Same, Unjudged};

#[test]
fn faster_and_slower_are_counted_by_verdict_and_the_rest_is_said_apart() {
    let tests = [
        (Improved, 2.0),
        (Regressed, 0.5),
        (NotEnoughEvidence, 1.5),
        (Improved, 1.2),
        (Same, 1.0),
        (Unjudged, 3.0),
    ];
    assert_eq!(
        says(&tests),
        "b is faster than a in 2 of 5 tests and slower in 1; 1 is the same within 2%; 1 is not decided; 1 is not judged. \
         Biggest win: test-0 at 4 clients, 2.00 times; biggest loss: test-1 at 4 clients, 0.50 times. Not decided: test-2 \
         at 4 clients, 1.50 [1.35, 1.65] times."
    );
}

#[test]
fn without_a_verdict_nothing_is_faster_or_slower_however_far_the_ratio_is_from_one() {
    for ratio in [0.1, 10.0] {
        let text = says(&[(NotEnoughEvidence, ratio), (NotEnoughEvidence, 1.01), (Unjudged, ratio)]);
        assert!(text.starts_with("b against a: none of 2 tests is decided; 1 is not judged."), "{text}");
        for word in ["faster", "slower", "win", "loss"] {
            assert!(!text.contains(word), "{text}");
        }
    }
    assert!(says(&[(Unjudged, 2.0)]).starts_with("b against a: no test is judged; 1 is not judged."));
}

#[test]
fn the_mean_has_its_interval_and_its_rounds() {
    let interval = Some(Interval { low: 0.66, high: 0.71, confidence: 0.95 });
    let mut found = comparison(&[(Regressed, 0.7), (Regressed, 0.68)]);
    found.overall = Some(GroupMean {
        group: String::new(),
        tests: 2,
        ratio: 0.69,
        interval,
        method: Method::Exact,
        rounds: 10,
    });
    assert!(
        of(&found).starts_with(
            "b is slower than a in 2 of 2 tests. Over all tests it gives 0.69 [0.66, 0.71] times the throughput \
             (geometric mean, 10 rounds). Biggest loss: test-1 at 4 clients, 0.68 times."
        ),
        "{}",
        of(&found)
    );
    let mean = found.overall.as_mut().unwrap();
    (mean.rounds, mean.method) = (3, Method::StudentT);
    assert!(
        of(&found).contains("times the throughput (geometric mean, t interval of 3 rounds)"),
        "{}",
        of(&found)
    );
    let mean = found.overall.as_mut().unwrap();
    (mean.rounds, mean.method) = (1, Method::ThisPairOnly);
    assert!(of(&found).contains("(geometric mean, 1 round: this pair of servers only)"), "{}", of(&found));
}

#[test]
fn of_a_few_tests_not_decided_the_biggest_is_named_and_of_many_none() {
    let few = says(&[(Same, 1.0), (NotEnoughEvidence, 1.05), (NotEnoughEvidence, 0.8)]);
    assert_eq!(
        few,
        "b is the same within 2% as a in 1 of 3 tests; 2 are not decided. Largest undecided difference: test-2 at \
         4 clients, 0.80 [0.72, 0.88] times."
    );
    let many = says(&[(NotEnoughEvidence, 1.05); 4]);
    assert_eq!(many, "b against a: none of 4 tests is decided.");
}

#[test]
fn failures_are_told() {
    let text = says(&[(Improved, 1.2), (Failed, 0.0)]);
    assert!(text.starts_with("b is faster than a in 1 of 2 tests."), "{text}");
    assert!(text.ends_with("It failed in 1 test."), "{text}");
}

#[test]
fn without_rounds_of_both_there_is_nothing_to_compare() {
    assert_eq!(
        says(&[(Unjudged, 0.0), (NotEnoughEvidence, 0.0)]),
        "b cannot be compared with a: no test has rounds of both."
    );
}

#[test]
fn a_second_measurement_of_the_same_system_is_called_noise() {
    let mut found =
        comparison(&[(NotEnoughEvidence, 1.01), (NotEnoughEvidence, 0.98), (NotEnoughEvidence, 1.05)]);
    found.is_control = true;
    assert_eq!(
        of(&found),
        "b is a measured a second time: the two differ by 2.0% in the middle of 3 tests and by 5.0% at the most, which \
         is noise."
    );
}
