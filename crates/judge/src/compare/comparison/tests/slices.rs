//! Rounds whose trials have slices.

use dyno_stats::SplitMix64;

use super::*;

#[test]
fn one_round_s_slices_speak_of_this_pair_of_servers_only() {
    let judgement = judge(&sliced(1, |system, _| {
        if system == "old" { around(1000.0, 0.05, 60, 3) } else { around(800.0, 0.05, 60, 4) }
    }));
    let test = first(&judgement);
    assert_eq!((test.finding, test.method), (Finding::NotEnoughEvidence, Method::ThisPairOnly));
    let interval = test.interval.unwrap();
    assert!(interval.low < 0.8 && 0.8 < interval.high && interval.high < 0.85, "{interval:?}");
    assert_eq!((test.rounds[0].slices, test.between_instances), (60, None));
    assert!(test.rounds[0].standard_error.is_some() && test.between_slices.is_some());
    assert_eq!(judgement.outcome, GateOutcome::NotDecided);
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
        let instance = if system == "new" && round.is_multiple_of(2) { 1.2 } else { 1.0 };
        around(10_000.0 * instance, 0.05, 100, u64::from(round) * 2 + u64::from(system == "new"))
    };
    let judgement = judge(&sliced(10, rates));
    let test = first(&judgement);
    assert_eq!(test.finding, Finding::NotEnoughEvidence, "half of the starts are faster, half are not");
    assert!((test.between_instances.unwrap() - 0.096).abs() < 0.02, "{:?}", test.between_instances);
    // 0.041 is the standard deviation of the difference of two numbers that are uniform between -5% and 5%.
    assert!((test.between_slices.unwrap() - 0.041).abs() < 0.01, "{:?}", test.between_slices);
}

/// The rates of a system in 80 slices. They change steadily, and `change` is the whole change as a share of the first
/// rate.
fn course(system: &str, change: f64, round: u32) -> Vec<f64> {
    let noise = around(1.0, 0.02, 80, u64::from(round) + if system == "old" { 0 } else { 50 });
    let rate = |(cycle, noise)| 10_000.0 * noise * (1.0 + change * f64::from(cycle) / 80.0);
    (0..80).zip(noise).map(rate).collect()
}

#[test]
fn a_candidate_that_decays_is_told_and_closes_no_gate() {
    let falling = sliced(6, |system, round| course(system, if system == "new" { -0.5 } else { 0.0 }, round));
    let judgement = judge(&falling);
    let test = first(&judgement);
    assert_eq!((test.finding, test.gate, test.p), (Finding::Decays, GateVote::Open, None));
    let Some(Undecided::Decays { change }) = test.undecided else { panic!("{:?}", test.undecided) };
    assert!((0.4..0.6).contains(&change), "{change}");
    assert_eq!(judgement.outcome, GateOutcome::NotDecided);
    // With the two systems exchanged, the base is the one whose rate is not level. The test then has no vote, because
    // not even the base's own figures can be judged.
    let turned = within(&falling, "new", "old", &Rule::default());
    assert_eq!(
        (first(&turned).finding, first(&turned).gate, turned.outcome),
        (Finding::Unjudged, GateVote::Abstains, GateOutcome::NotDecided)
    );
}

#[test]
fn a_test_that_drops_out_keeps_the_gate_open_beside_tests_that_pass() {
    let mut run = run_with(&[1.0, 1.0], 6);
    let mut judge_with = |base: f64, candidate: f64| {
        for trial in run.trials.iter_mut().map(|trial| &mut trial.record).filter(|it| it.step_id == "s0") {
            let change = if trial.system_id == "old" { base } else { candidate };
            slice(trial, &course(&trial.system_id.clone(), change, trial.round));
        }
        let judgement = judge(&run);
        let votes: Vec<GateVote> = judgement.comparisons[0].tests.iter().map(|test| test.gate).collect();
        assert_eq!(votes[1], GateVote::NotWorse);
        (votes[0], judgement.outcome)
    };
    assert_eq!(judge_with(0.0, 0.0), (GateVote::NotWorse, GateOutcome::NoneRegressed));
    assert_eq!(judge_with(0.0, -0.3), (GateVote::Open, GateOutcome::NotDecided));
    assert_eq!(judge_with(0.0, 0.4), (GateVote::Open, GateOutcome::NotDecided), "it is warming up still");
    assert_eq!(judge_with(0.8, -0.3), (GateVote::Abstains, GateOutcome::NoneRegressed));
}

#[test]
fn a_rate_without_level_is_not_judged() {
    let rising_alone =
        sliced(6, |system, round| course(system, if system == "new" { 0.2 } else { 0.0 }, round));
    let judgement = judge(&rising_alone);
    assert_eq!(first(&judgement).finding, Finding::Unjudged);
    assert_eq!(first(&judgement).undecided, Some(Undecided::NoLevel { system: "new".to_owned() }));
    assert_eq!(first(&judgement).p, None, "it is in no family");
    assert_eq!(judgement.outcome, GateOutcome::NotDecided);
    let rising_together = sliced(6, |system, round| course(system, 0.2, round));
    assert_eq!(findings(&judge(&rising_together)), [Finding::Same]);
    let far = sliced(6, |system, round| course(system, 0.6, round));
    assert_eq!(findings(&judge(&far)), [Finding::Unjudged]);
}

/// The judgement on a run in which a tenth of the candidate's slices have almost no operations in some rounds.
fn stalling(rounds: usize, in_round: impl Fn(u32) -> bool) -> Judgement {
    let rates = |system: &str, round: u32| -> Vec<f64> {
        let mut rates = around(10_000.0, 0.01, 100, u64::from(round) + if system == "old" { 0 } else { 50 });
        if system == "new" && in_round(round) {
            rates.iter_mut().step_by(10).for_each(|rate| *rate = 100.0);
        }
        rates
    };
    judge(&sliced(rounds, rates))
}

#[test]
fn stalls_of_one_system_in_round_after_round_count() {
    let judgement = stalling(6, |_| true);
    let test = first(&judgement);
    let [TestWarning::StallsCounted { sliced_ratio }] = test.warnings[..] else {
        panic!("{:?}", test.warnings)
    };
    assert!((sliced_ratio - 1.0).abs() < 0.01 && (test.ratio.unwrap() - 0.9).abs() < 0.01);
    assert_eq!(test.finding, Finding::Regressed);
}

#[test]
fn stalls_of_some_rounds_do_not_count_and_are_named_if_the_middle_has_them() {
    let judgement = stalling(3, |round| round > 0);
    let [TestWarning::Stalls { whole_ratio }] = first(&judgement).warnings[..] else {
        panic!("{:?}", first(&judgement).warnings)
    };
    assert!((whole_ratio - 0.9).abs() < 0.01 && first(&judgement).ratio.unwrap() > 0.99);
    let once = stalling(8, |round| round == 3);
    assert!(first(&once).warnings.is_empty() && (first(&once).ratio.unwrap() - 1.0).abs() < 0.01);
}

/// A standard normal number, approximately: the sum of twelve uniform numbers.
fn normal(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| random.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
}

/// The mean ratio of 100 comparisons of eight rounds with 60 slices. `rate` draws the rates of a system.
fn mean_ratio(rate: impl Fn(&str, &mut SplitMix64) -> f64) -> f64 {
    let ratio = |seed: u64| {
        let rates = |system: &str, round: u32| {
            let mut random = SplitMix64::new(seed * 100 + u64::from(round) * 2 + u64::from(system == "new"));
            (0..60).map(|_| rate(system, &mut random)).collect()
        };
        first(&judge(&sliced(8, rates))).ratio.unwrap()
    };
    (0..100).map(ratio).sum::<f64>() / 100.0
}

#[test]
fn equal_throughputs_are_equal_however_much_the_slices_of_each_vary() {
    let ratio = mean_ratio(|system, random| {
        10_000.0 * (1.0 + if system == "old" { 0.1 } else { 0.2 } * normal(random)).max(0.05)
    });
    assert!((ratio - 1.0).abs() < 0.006, "{ratio}");
}

#[test]
fn a_system_s_own_stalls_are_in_its_throughput() {
    // In one of 27 slices, on average, the candidate works at half its rate. This costs 1.85% of its throughput.
    let ratio = mean_ratio(|system, random| {
        let is_stalled = system == "new" && random.below(27) == 0;
        10_000.0 * (1.0 + 0.03 * normal(random)) * if is_stalled { 0.5 } else { 1.0 }
    });
    assert!((ratio - 0.9815).abs() < 0.004, "{ratio}");
}
