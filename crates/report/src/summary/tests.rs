use dyno_stats::Interval;
use dyno_store::Operation;

use super::*;
use crate::Row;

fn system(id: &str, is_base: bool) -> System {
    System {
        id: id.to_owned(),
        name: id.to_owned(),
        engine_version: None,
        is_base,
        is_in_process: false,
        twin_of: None,
    }
}

/// A summary of candidate `b` against base `a`, with a test for each content.
fn summary_of(contents: Vec<Content<PairedRatio>>) -> String {
    summary_of_system(system("b", false), contents)
}

fn summary_of_system(candidate: System, contents: Vec<Content<PairedRatio>>) -> String {
    let row = |(number, content): (usize, Content<PairedRatio>)| Row {
        group: "all".to_owned(),
        step: format!("test-{number}"),
        operation: Operation::Query,
        cells: vec![Cell { system: "b".to_owned(), clients: 4, footnote: None, content }],
    };
    let relative = Matrix { rows: contents.into_iter().enumerate().map(row).collect() };
    let [paragraph] = &summary(&[system("a", true), candidate], &relative)[..] else {
        panic!("one candidate has one paragraph")
    };
    paragraph.clone()
}

fn sure(low: f64, ratio: f64, high: f64) -> Content<PairedRatio> {
    let interval = Some(Interval { low, high, confidence: 0.96875 });
    Content::Measured(PairedRatio { ratio, interval, pairs: 6 })
}

fn unsure(ratio: f64, pairs: usize) -> Content<PairedRatio> {
    Content::Measured(PairedRatio { ratio, interval: None, pairs })
}

#[test]
fn with_intervals_it_counts_only_what_they_decide() {
    let tests = vec![sure(1.9, 2.0, 2.1), sure(0.4, 0.5, 0.6), sure(0.9, 1.5, 2.0), sure(1.1, 1.2, 1.3)];
    assert_eq!(
        summary_of(tests),
        "b is faster than a in 2 of 4 tests and slower in 1; 1 shows no clear difference. Over all tests it gives \
         1.16 times the throughput (geometric mean). Biggest win: test-0 at 4 clients, 2.00 times; biggest loss: \
         test-1 at 4 clients, 0.50 times."
    );
}

#[test]
fn with_too_few_trials_it_says_so_and_how_many_it_takes() {
    assert_eq!(
        summary_of(vec![unsure(1.2, 3), unsure(1.1, 3)]),
        "b came out faster than a in 2 of 2 tests. Over all tests it gives 1.15 times the throughput (geometric \
         mean). Biggest win: test-0 at 4 clients, 1.20 times. 3 paired trials a test are too few for a 95% \
         interval, so differences may be chance; it takes 6."
    );
}

#[test]
fn one_trial_is_singular() {
    let text = summary_of(vec![unsure(0.8, 1)]);
    assert!(text.starts_with("b came out slower than a in 1 of 1 test. Biggest loss: test-0"), "{text}");
    assert!(text.ends_with(
        "1 paired trial a test is too few for a 95% interval, so differences may be chance; it takes 6."
    ));
}

#[test]
fn where_only_some_tests_have_too_few_trials_it_says_how_many() {
    let text = summary_of(vec![sure(1.1, 1.2, 1.3), unsure(1.4, 1)]);
    assert!(text.starts_with("b came out faster than a in 2 of 2 tests."), "{text}");
    assert!(text.ends_with("1 test has fewer than 6 paired trials: its difference may be chance."), "{text}");
}

#[test]
fn no_difference_is_a_finding_too() {
    assert_eq!(summary_of(vec![sure(0.9, 1.01, 1.1)]), "b shows no clear difference from a in 1 test.");
}

#[test]
fn failures_are_told_and_what_was_never_planned_is_not() {
    let text = summary_of(vec![sure(1.1, 1.2, 1.3), Content::Failed, Content::Unplanned]);
    assert!(text.starts_with("b is faster than a in 1 of 1 test."), "{text}");
    assert!(text.ends_with("It failed in 1 test."), "{text}");
}

#[test]
fn without_pairs_there_is_nothing_to_compare() {
    assert_eq!(
        summary_of(vec![Content::Incomparable, Content::Missing]),
        "b cannot be compared with a: no test has trials of both."
    );
}

#[test]
fn a_second_measurement_of_the_same_system_is_called_noise() {
    let twin = System { twin_of: Some("a".to_owned()), ..system("b", false) };
    let paragraph = summary_of_system(twin, vec![unsure(1.01, 3), unsure(0.98, 3), unsure(1.05, 3)]);
    assert_eq!(
        paragraph,
        "b is a measured a second time: the two differ by 2.0% in the middle of 3 tests and by 5.0% at the most, which \
         is noise."
    );
}
