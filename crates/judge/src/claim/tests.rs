use dyno_store::{CounterRecord, Run};

use super::*;
use crate::sample::{add_step, around, run, seconds, slice};
use crate::{DisturbanceLimits, Rule, analyse, check_trial};

/// A run of `MyRocks` and `InnoDB`, each on a slow and on a fast disk. The rate of `MyRocks` is a multiple of the rate
/// of `InnoDB`: 0.5 or 0.4 on reads, 2 on writes, and 3 on the load.
fn study(rounds: usize) -> Run {
    let mut run = run(1, &["innodb-500", "myrocks-500", "innodb-5000", "myrocks-5000"]);
    let mut salt = 0;
    for (group, step, clients, myrocks) in [
        ("reads", "point", 4, 0.5),
        ("reads", "point", 16, 0.4),
        ("writes", "update", 4, 2.0),
        ("load", "load", 1, 3.0),
    ] {
        let rate = |system: &str| {
            let limit = if system.ends_with("5000") { 5000.0 } else { 500.0 };
            limit * if system.starts_with("myrocks") { myrocks } else { 1.0 }
        };
        let ids: Vec<String> = run.systems.iter().map(|system| system.id.clone()).collect();
        let rates: Vec<(&str, Vec<f64>)> = ids
            .iter()
            .map(|id| {
                salt += 1;
                (id.as_str(), around(rate(id), 0.01, rounds, salt))
            })
            .collect();
        add_step(&mut run, group, step, clients, &rates);
    }
    run.steps.last_mut().unwrap().seconds = None;
    run
}

fn judge(text: &str, run: &Run) -> ClaimResult {
    Claim::parse(text).unwrap().judge(run, &TrialChecks::new()).unwrap()
}

#[test]
fn claims_are_supported_refuted_or_neither() {
    let run = study(10);
    for (text, state) in [
        ("ratio(myrocks-5000, innodb-5000, tps, update) > 1.8", ClaimState::Supported),
        ("ratio(myrocks-5000, innodb-5000, \"tps\", update) > 2.5", ClaimState::Refuted),
        ("ratio(myrocks-5000, innodb-5000, tps, update, 4) > 2", ClaimState::Inconclusive),
        ("0.35 < ratio(myrocks-500, innodb-500, tps, point, 16) < 0.45", ClaimState::Supported),
        ("0.45 < ratio(myrocks-500, innodb-500, tps, point, 16) < 0.55", ClaimState::Refuted),
        ("2 < ratio(myrocks-500, innodb-500, tps, load, 1)", ClaimState::Supported),
        (
            "value(innodb-5000, throughput, point, 4) >= 10 * value(innodb-500, tps, point, 4) * 0.9",
            ClaimState::Supported,
        ),
        ("value(innodb-5000, tps, point, 4) < 2 * value(innodb-500, tps, point, 4)", ClaimState::Refuted),
        ("geomean(myrocks-500, innodb-500, tps) < 0.8", ClaimState::Supported),
        ("geomean(myrocks-500, innodb-500, tps, reads) < 0.5", ClaimState::Supported),
        ("(1 - ratio(myrocks-500, innodb-500, tps, point, 4)) * 100 > 45", ClaimState::Supported),
        ("ratio(myrocks-500, innodb-500, p99_us, point, 4) > 1.9", ClaimState::Supported),
        ("value(myrocks-500, written_kib, update, 4) < 3", ClaimState::Supported),
    ] {
        let result = judge(text, &run);
        assert_eq!(result.state, state, "{text}: {result:?}");
    }
}

#[test]
fn figures_come_with_their_interval_and_rounds() {
    let run = study(10);
    let result = judge("0.4 < ratio(myrocks-500, innodb-500, tps, point, 4) < 0.6", &run);
    let interval = result.interval.unwrap();
    assert!((result.measured.unwrap() - 0.5).abs() < 0.01);
    assert!(interval.low < 0.5 && 0.5 < interval.high && interval.confidence >= 0.95, "exact: {interval:?}");
    // Reports show the same ratio and interval.
    let analysis = analyse(&run, &TrialChecks::new(), &Rule::default());
    let comparison = analysis.comparison("innodb-500", "myrocks-500").unwrap();
    let test =
        comparison.tests.iter().find(|test| (test.step.as_str(), test.clients) == ("point", 4)).unwrap();
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let shown = test.interval.unwrap();
    assert!(close(test.ratio.unwrap(), result.measured.unwrap()), "{:?}", test.ratio);
    assert!(close(shown.low, interval.low) && close(shown.high, interval.high), "{shown:?}");
    assert_eq!((result.rounds, result.method, result.reason), (10, Method::Exact, None));
    let group = judge("geomean(myrocks-500, innodb-500, tps) < 1", &study(10));
    assert!((group.measured.unwrap() - (0.5_f64 * 0.4 * 2.0).cbrt()).abs() < 0.01, "loads are not in it");
}

#[test]
fn too_few_rounds_are_inconclusive_and_say_why() {
    let ratio = "ratio(myrocks-500, innodb-500, tps, point, 4) < 1";
    for (rounds, method, reason) in [
        (1, Method::None, "one round: it holds for these servers only"),
        (5, Method::StudentT, "5 of the 6 rounds that a verdict needs"),
    ] {
        let result = judge(ratio, &study(rounds));
        assert_eq!((result.state, result.method), (ClaimState::Inconclusive, method));
        assert_eq!(result.reason.as_deref(), Some(reason));
    }
    let enough = judge(ratio, &study(6));
    assert_eq!((enough.state, enough.method, enough.reason), (ClaimState::Supported, Method::Exact, None));
    let unmeasured = judge("value(innodb-500, fsyncs, update, 4) < 1", &study(10));
    assert_eq!(
        (unmeasured.state, unmeasured.reason.as_deref()),
        (ClaimState::Inconclusive, Some("no round has all its figures"))
    );
}

#[test]
fn both_sides_are_worked_out_round_by_round() {
    // Rounds differ by a factor of ten. In each of them one system has 1.5 times the other's rate.
    let mut run = run(1, &["a", "b"]);
    let rates =
        |factor: f64| (0..6).map(|round| factor * 100.0 * f64::from(1 + round * 2)).collect::<Vec<f64>>();
    add_step(&mut run, "reads", "point", 4, &[("a", rates(1.5)), ("b", rates(1.0))]);
    let claim = "value(a, tps, point, 4) > 1.4 * value(b, tps, point, 4)";
    assert_eq!(judge(claim, &run).state, ClaimState::Supported);
    assert_eq!(judge("value(a, tps, point, 4) > 500", &run).state, ClaimState::Inconclusive);
}

#[test]
fn ratios_come_from_slices_where_there_are_some() {
    let mut run = study(6);
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record).filter(|trial| trial.step_id == "point")
    {
        let rate = if trial.system_id.starts_with("myrocks") { 900.0 } else { 1000.0 };
        // In one round, myrocks stalls in every tenth slice. This affects its rate over the whole time but not the
        // ratio of slices.
        let stalls = trial.system_id.starts_with('m') && trial.round == 0;
        let rates = |cycle: u32| if cycle.is_multiple_of(10) && stalls { 10.0 } else { rate };
        let rates: Vec<f64> = (0..60).map(rates).collect();
        slice(trial, &rates);
    }
    let result = judge("ratio(myrocks-500, innodb-500, tps, point, 4) > 0.89", &run);
    assert!((result.measured.unwrap() - 0.9).abs() < 1e-6 && result.state == ClaimState::Supported);
}

#[test]
fn variation_comes_from_the_checks_of_trials() {
    let run = study(10);
    let claim = Claim::parse("value(innodb-500, cv, point, 4) > 0.2").unwrap();
    let uneven = seconds(&[100.0, 50.0, 100.0, 50.0, 100.0, 50.0]);
    let checks: TrialChecks = run
        .trials
        .iter()
        .map(|trial| (trial.id, check_trial(&run, trial, &uneven, &DisturbanceLimits::default())))
        .collect();
    assert_eq!(claim.judge(&run, &checks).unwrap().state, ClaimState::Supported);
    assert_eq!(claim.judge(&run, &TrialChecks::new()).unwrap().state, ClaimState::Inconclusive);
}

#[test]
fn what_cannot_be_read_is_shown_with_its_column() {
    for (text, message) in [
        ("ratio(a, b, tps)", "column 17: expected <, <=, > or >=, found the end"),
        ("ration(a, b, tps) > 1", "column 1: there is no function 'ration', did you mean 'ratio'?"),
        ("ratio(a, b, tsp) > 1", "column 13: there is no quantity 'tsp'; there is throughput, "),
        ("ratio(a, tps) > 1", "column 13: expected a comma, found ')'"),
        ("ratio(a b, tps) > 1", "column 9: expected a comma, found 'b'"),
        ("ratio(a, b, tps > 1", "column 17: expected a closing parenthesis, found '>'"),
        ("ratio(a, \"b, tps) > 1", "column 10: the quotation mark is never closed"),
        (
            "ratio(a, b, tps) > ",
            "column 20: expected a number, ratio, value, geomean or a parenthesis, found the end",
        ),
        ("ratio(a, b, tps) = 2", "column 18: '=' has no meaning here"),
        ("ratio(a, b, tps) > 2 when x", "column 22: expected an operator, or the end, found 'when'"),
        ("ratio(a, b, tps, s, 1.5) > 2", "column 21: expected a number of clients, found 1.5"),
        ("ratio(ä, b, tps) > é?", "column 20: there is no function 'é'; there is ratio, value, geomean"),
        ("1 < 2", "column 1: the claim needs a ratio, value or geomean on at least one side"),
        ("1 ~ 2", "column 3: '~' has no meaning here"),
        ("", "column 1: expected a number, ratio, value, geomean or a parenthesis, found the end"),
    ] {
        // A `?` at the end of a text is not part of the claim: the parser would report this character before the error
        // that is tested.
        let text = text.trim_end_matches('?');
        let error = Claim::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn what_the_plan_does_not_have_is_said_before_anything_is_measured() {
    let run = study(1);
    for (text, message) in [
        ("ratio(myrock, innodb-500, tps, point, 4) > 1", "column 7: there is no system 'myrock'"),
        (
            "ratio(myrocks-50, innodb-500, tps, point, 4) > 1",
            "column 7: there is no system 'myrocks-50', did you mean 'myrocks-500'?",
        ),
        (
            "ratio(myrocks-500, innodb-500, tps, pint) > 1",
            "column 37: there is no step 'pint', did you mean 'point'?",
        ),
        ("ratio(myrocks-500, innodb-500, tps, reads) > 1", "column 37: there is no step 'reads'"),
        (
            "geomean(myrocks-500, innodb-500, tps, read) > 1",
            "column 39: there is no step or group 'read', did you mean 'reads'?",
        ),
        (
            "ratio(myrocks-500, innodb-500, tps, point) > 1",
            "column 1: ratio needs one test, and 2 match; name a step",
        ),
        (
            "ratio(myrocks-500, innodb-500, tps, update, 16) > 1",
            "column 1: ratio needs one test, and none matches; the scale",
        ),
    ] {
        let error = Claim::parse(text).unwrap().check(&run.systems, &run.steps).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn a_run_s_claims_are_judged_with_their_records() {
    let mut run = study(10);
    let claim = |id: &str, expression: &str| dyno_store::ClaimRecord {
        id: id.to_owned(),
        expression: expression.to_owned(),
        published: Some(0.5),
        ..dyno_store::ClaimRecord::default()
    };
    run.record.claims =
        vec![claim("half", "ratio(myrocks-500, innodb-500, tps, point, 4) < 0.6"), claim("odd", "ratio(")];
    let judged = judge_claims(&run, &TrialChecks::new());
    assert_eq!(judged[0].record.published, Some(0.5));
    assert_eq!(judged[0].result.as_ref().unwrap().state, ClaimState::Supported);
    assert_eq!(judged[1].result.as_ref().unwrap_err().column, 7);
}

#[test]
fn a_claim_of_parentheses_only_does_not_exhaust_the_stack() {
    let error = Claim::parse(&"(".repeat(100_000)).unwrap_err().to_string();
    assert!(error.contains("fewer nested parentheses"), "{error}");
}

#[test]
fn operators_bind_as_usual() {
    let run = study(10);
    let measured = |text: &str| judge(text, &run).measured.unwrap();
    let one = "ratio(innodb-500, innodb-500, tps, point, 4)";
    assert!((measured(&format!("1 + 2 * {one} - 6 / 3 > 0")) - 1.0).abs() < 1e-12);
    assert!((measured(&format!("(1 + 2) * {one} > 0")) - 3.0).abs() < 1e-12);
    assert!((measured(&format!("8 / 2 / 2 * {one} > 0")) - 2.0).abs() < 1e-12);
}

#[test]
fn a_counter_is_claimed_per_operation_and_a_gauge_at_its_end() {
    let mut run = study(6);
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        let operations = trial.measured.as_ref().unwrap().counts.operations as f64;
        let each = if trial.system_id.starts_with("myrocks") { 2.0 } else { 256.0 };
        let counter = |name: &str, is_gauge, last| CounterRecord {
            name: name.to_owned(),
            is_gauge,
            first: 100.0,
            last,
            values: Vec::new(),
        };
        trial.counters = vec![
            counter("global_status.Handler_read_next", false, 100.0 + each * operations),
            counter("global_status.Threads_running", true, each),
        ];
    }
    let next = "ratio(innodb-500, myrocks-500, counter.Handler_read_next, point, 4)";
    assert_eq!(judge(&format!("127 < {next} < 129"), &run).state, ClaimState::Supported);
    assert_eq!(judge(&format!("{next} < 100"), &run).state, ClaimState::Refuted);
    let running = "value(myrocks-500, counter.global_status.Threads_running, point, 4)";
    assert_eq!(judge(&format!("1.9 < {running} < 2.1"), &run).state, ClaimState::Supported);
    let nobody_s = judge("value(myrocks-500, counter.Handler_icp_match, point, 4) < 1", &run);
    assert_eq!((nobody_s.state, nobody_s.measured), (ClaimState::Inconclusive, None));
    let claim = Claim::parse(&format!("{next} > 1")).unwrap();
    assert_eq!(claim.counters().collect::<Vec<_>>(), ["Handler_read_next"]);
    assert!(Claim::parse("value(myrocks-500, counter., point, 4) < 1").is_err());
}
