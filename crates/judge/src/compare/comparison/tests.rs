mod failures;
mod leaving;
mod means;
mod neighbours;
mod slices;

use dyno_stats::{Looks, Margin, SplitMix64};
use dyno_store::{Correction, LatencyRecord, Operation, Run};

use super::*;
use crate::Quantity;
use crate::sample::{add_step, around, fail, fail_in, latency, run, slice};
use crate::trial::check::TrialChecks;
use crate::trial::member::ComparedSystem;

static NO_CHECKS: TrialChecks = TrialChecks::new();

fn subject<'a>(run: &'a Run, system: &'a str) -> ComparedSystem<'a> {
    ComparedSystem { run, checks: &NO_CHECKS, system }
}

fn within(run: &Run, base: &str, candidate: &str, rule: &Rule) -> Judgement {
    compare(&[(subject(run, base), subject(run, candidate))], rule)
}

fn judge(run: &Run) -> Judgement {
    within(run, "old", "new", &Rule::default())
}

/// A run with one step per ratio. The step's name contains its index.
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

/// The looks of a run with at most this many rounds.
fn looks_of(rounds_max: u32) -> Looks {
    Looks::new(rounds_max as usize, Rule::default().alpha, 1).unwrap()
}

/// Changes the plan of a run: the run continues until all tests are decided, for at most `rounds_max` rounds.
fn planned(mut run: Run, rounds_max: u32) -> Run {
    (run.record.rounds, run.record.looks) = (rounds_max, looks_of(rounds_max).at.len() as u32);
    run
}

/// A run with one step. In every round, both systems have slices with the rates that `rates` returns.
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

/// A run of a system with these rates, and an anchor with a steady rate.
fn anchored(id: i64, rates: Vec<f64>) -> Run {
    let mut run = run(id, &["pinned", "db"]);
    run.systems[0].is_anchor = true;
    let pinned = vec![1000.0; rates.len()];
    add_step(&mut run, "reads", "s0", 4, &[("pinned", pinned), ("db", rates)]);
    run
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
    // Whether the candidate is better or the same is undecided, but the interval rules out that it is worse.
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
    assert_eq!(judgement.outcome, GateOutcome::NotDecided);
    let tests = &judgement.comparisons[0].tests;
    assert_eq!(tests[0].undecided, Some(Undecided::TooFewRounds { rounds: 1, wanted: 6 }));
    assert_eq!(
        (tests[0].method, tests[0].interval, tests[0].rules_out_regression),
        (Method::None, None, false)
    );
    let more: Vec<_> = tests.iter().map(|test| test.more_rounds).collect();
    assert_eq!(more, [Some(5), Some(5)], "six rounds can decide any number of tests");
    let holm = Rule { correction: Some(Correction::Holm), ..Rule::default() };
    let by_holm = within(&run_with(&[0.5, 1.0], 1), "old", "new", &holm);
    let more: Vec<_> = by_holm.comparisons[0].tests.iter().map(|test| test.more_rounds).collect();
    assert_eq!(more, [Some(6), Some(5)], "an alarm among two tests takes 7");
}

#[test]
fn fewer_than_six_rounds_have_an_interval_and_no_verdict() {
    for rounds in 2..6 {
        let judgement = judge(&run_with(&[0.5, 1.0], rounds));
        assert_eq!(findings(&judgement), [Finding::NotEnoughEvidence; 2]);
        let test = first(&judgement);
        assert_eq!(test.undecided, Some(Undecided::TooFewRounds { rounds, wanted: 6 }));
        assert_eq!((test.method, test.rules_out_regression), (Method::StudentT, false));
        assert!(test.interval.is_some());
    }
}

/// Eight equal candidates and a base. By chance, each start of a system is fast or slow.
fn with_two_kinds_of_starts(seed: u64, rounds: usize) -> Run {
    let systems = ["base", "a", "b", "c", "d", "e", "f", "g", "h"];
    let mut random = SplitMix64::new(seed);
    let mut run = run(1, &systems);
    let rates = systems.map(|system| {
        let start = |random: &mut SplitMix64| if random.below(2) == 0 { 1000.0 } else { 900.0 };
        let rates = (0..rounds).map(|_| start(&mut random) * (1.0 + 1e-5 * random.below(1000) as f64));
        (system, rates.collect())
    });
    add_step(&mut run, "reads", "reads", 4, &rates);
    run
}

#[test]
fn starts_that_are_fast_or_slow_seldom_make_one_of_eight_equal_systems_differ() {
    for rounds in 3..8 {
        let alarms = (0..200).filter(|seed| {
            let run = with_two_kinds_of_starts(*seed, rounds);
            let candidates: Vec<_> = run.systems[1..]
                .iter()
                .map(|system| (subject(&run, "base"), subject(&run, &system.id)))
                .collect();
            let judgement = compare(&candidates, &Rule::default());
            let tests = judgement.comparisons.iter().flat_map(|comparison| &comparison.tests);
            tests.into_iter().any(|test| matches!(test.finding, Finding::Improved | Finding::Regressed))
        });
        // If 5% of the runs have an alarm, 10 of 200 are expected. The limit adds three standard deviations.
        assert!(alarms.count() <= 19, "{rounds} rounds");
    }
}

#[test]
fn by_holm_s_correction_many_tests_take_more_rounds() {
    let ratios = [&[0.9][..], &[1.0; 9][..]].concat();
    let rule = |correction| Rule { correction: Some(correction), ..Rule::default() };
    let by = |run: &Run, correction| within(run, "old", "new", &rule(correction));
    let six = run_with(&ratios, 6);
    let by_holm = by(&six, Correction::Holm);
    assert_eq!(findings(&by_holm)[0], Finding::NotEnoughEvidence);
    // Holm's correction needs nine rounds, because 2/2⁹ ≤ 0.05/10.
    assert_eq!(first(&by_holm).undecided, Some(Undecided::TooFewRounds { rounds: 6, wanted: 9 }));
    assert_eq!(first(&by_holm).more_rounds, Some(3));
    assert_eq!(findings(&by(&six, Correction::None))[0], Finding::Regressed);
    let only = Rule { steps: vec!["s0".to_owned()], ..rule(Correction::Holm) };
    assert_eq!(findings(&within(&six, "old", "new", &only)), [Finding::Regressed]);
    assert_eq!(findings(&by(&run_with(&ratios, 12), Correction::Holm))[0], Finding::Regressed);
}

#[test]
fn tests_that_share_rounds_can_be_decided_in_six() {
    let ratios = [&[0.9; 4][..], &[1.0; 20][..]].concat();
    let judgement = judge(&run_with(&ratios, 6));
    let found = findings(&judgement);
    assert_eq!(found[..4], [Finding::Regressed; 4]);
    assert!(!found[4..].contains(&Finding::Regressed), "{found:?}");
    assert_eq!(judgement.rule.correction, Some(Correction::MaxT));
}

#[test]
fn a_test_with_few_rounds_does_not_hide_what_others_show() {
    let mut run = run_with(&[0.9; 4], 6);
    add_step(&mut run, "reads", "few", 4, &[("old", vec![1000.0, 1000.1]), ("new", vec![500.0, 500.1])]);
    let found = findings(&judge(&run));
    assert_eq!(found, [[Finding::Regressed; 4].as_slice(), &[Finding::NotEnoughEvidence]].concat());
}

#[test]
fn every_look_at_24_tests_can_decide() {
    let ratios = [&[0.8; 4][..], &[1.0; 20][..]].concat();
    for look in looks_of(20).at {
        let judgement = judge(&planned(run_with(&ratios, look.rounds), 20));
        let (found, rounds) = (findings(&judgement), look.rounds);
        assert_eq!(
            (judgement.rule.look, &found[..4]),
            (Some(look), &[Finding::Regressed; 4][..]),
            "{rounds}"
        );
        assert!(!found[4..].contains(&Finding::Regressed), "{rounds} rounds: {found:?}");
    }
}

#[test]
fn a_run_is_judged_by_the_correction_of_its_plan() {
    let mut explored = run_with(&[0.9, 0.9, 0.9, 1.0], 6);
    explored.record.correction = Correction::Holm;
    let held = judge(&explored);
    assert_eq!(
        (findings(&held)[0], held.rule.correction),
        (Finding::NotEnoughEvidence, Some(Correction::Holm))
    );
    explored.record.correction = Correction::Fdr;
    let judgement = judge(&explored);
    assert_eq!(findings(&judgement)[..3], [Finding::Regressed; 3], "three of four differ in all six rounds");
    assert_ne!(findings(&judgement)[3], Finding::Regressed);
    assert_eq!(judgement.rule.correction, Some(Correction::Fdr));
    let strict = Rule { correction: Some(Correction::Holm), ..Rule::default() };
    assert_eq!(findings(&within(&explored, "old", "new", &strict))[0], Finding::NotEnoughEvidence);
}

#[test]
fn looking_often_takes_more_evidence_too() {
    let run = run_with(&[0.9], 6);
    assert_eq!(findings(&judge(&run)), [Finding::Regressed]);
    let mut noisy = run_with(&[], 8);
    let rates = [("old", vec![1000.0; 8]), ("new", [vec![950.0; 3], vec![1080.0], vec![900.0; 4]].concat())];
    add_step(&mut noisy, "reads", "s0", 4, &rates);
    let margin_of_nothing = Rule {
        margin: Margin::new(0.0).unwrap(),
        correction: Some(Correction::None),
        alpha: 0.1,
        ..Rule::default()
    };
    assert_eq!(findings(&within(&noisy, "old", "new", &margin_of_nothing)), [Finding::Regressed]);
    let judgement = within(&planned(noisy, 20), "old", "new", &margin_of_nothing);
    assert_eq!(findings(&judgement), [Finding::NotEnoughEvidence]);
    assert!(judgement.rule.look.is_some_and(|look| look.alpha < 0.05), "{:?}", judgement.rule.look);
}

#[test]
fn runs_with_an_anchor_are_compared_unpaired_unless_they_took_turns() {
    let make = |id, rate, rounds| anchored(id, around(rate, 0.005, rounds, id as u64));
    let judge = |old: &Run, new: &Run| compare(&[(subject(old, "db"), subject(new, "db"))], &Rule::default());
    let (old, mut new) = (make(1, 1000.0, 5), make(2, 900.0, 7));
    let judgement = judge(&old, &new);
    let test = first(&judgement);
    assert_eq!((test.finding, test.method), (Finding::Regressed, Method::Unpaired));
    assert_eq!(test.replicates, Replicates::AnchoredRounds);
    assert_eq!((test.base_rounds, test.candidate_rounds, test.rounds.len()), (5, 7, 0));
    assert!((test.ratio.unwrap() - 0.9).abs() < 0.01);
    let few = judge(&make(1, 1000.0, 3), &make(2, 900.0, 3));
    assert_eq!(first(&few).undecided, Some(Undecided::TooFewRounds { rounds: 3, wanted: 4 }));
    assert_eq!((first(&few).more_rounds, first(&few).method), (Some(1), Method::None));
    for (new, old) in new.trials.iter_mut().zip(&old.trials) {
        new.record.started_at_ms = old.record.started_at_ms + 100;
    }
    let judgement = judge(&old, &new);
    assert_eq!((first(&judgement).rounds.len(), first(&judgement).replicates), (5, Replicates::PairedRounds));
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
    // Costs have no verdict. The base uses 40 µs of CPU per operation, and the candidate 25 µs: 30 µs of the 40 µs are
    // halved.
    let cost = judge(&run).comparisons[0].tests[0].costs[&Quantity::ServerCpu];
    assert!((cost.ratio - 0.625).abs() < 1e-3 && cost.method == Method::Exact, "{cost:?}");
}

/// Makes the trials of a system finish nothing in some rounds. `due` is the number of due events, if the step has a
/// rate.
fn idle(run: &mut Run, system: &str, rounds: std::ops::Range<u32>, due: Option<u64>) {
    for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
        if trial.system_id == system && rounds.contains(&trial.round) {
            let measured = trial.measured.as_mut().unwrap();
            (measured.counts.operations, measured.counts.events, measured.due) = (0, 0, due);
        }
    }
}

#[test]
fn nothing_done_is_0_and_has_no_ratio() {
    let judge_with = |of_old: std::ops::Range<u32>, of_new: std::ops::Range<u32>, due| {
        let mut run = run_with(&[1.0], 8);
        idle(&mut run, "old", of_old, due);
        idle(&mut run, "new", of_new, due);
        judge(&run)
    };
    let by = |system: &str| Some(Undecided::NothingDone { system: system.to_owned() });
    for (old, new, due, undecided, gate) in [
        (0..8, 0..8, None, by("old"), GateVote::Abstains),
        (0..8, 0..8, Some(0), Some(Undecided::NothingDue), GateVote::Abstains),
        (0..8, 0..8, Some(9), by("old"), GateVote::Abstains),
        (0..0, 0..8, None, by("new"), GateVote::Open),
        (0..0, 3..4, None, by("new"), GateVote::Open),
        (0..8, 0..0, None, by("old"), GateVote::Abstains),
    ] {
        let judgement = judge_with(old, new.clone(), due);
        let test = first(&judgement);
        assert_eq!((test.finding, &test.undecided, test.gate), (Finding::Unjudged, &undecided, gate));
        assert_eq!((test.p, judgement.outcome), (None, GateOutcome::NotDecided));
        assert_eq!(test.ratio.is_some(), new.end - new.start == 1, "of the other rounds there is one");
    }
    // If both systems finish nothing in the same round, the other rounds decide.
    assert_eq!(first(&judge_with(2..3, 2..3, Some(0))).finding, Finding::Same);
}

#[test]
fn no_verdict_rests_on_latencies_of_events_that_never_ended() {
    let mut run = run_with(&[1.0], 12);
    let rule = Rule { quantity: Quantity::LatencyP99, ..Rule::default() };
    assert_eq!(findings(&within(&run, "old", "new", &rule)), [Finding::Same]);
    let is_one = |record: &&mut dyno_store::TrialRecord| record.system_id == "new" && record.round == 3;
    let stopped = run.trials.iter_mut().map(|trial| &mut trial.record).find(is_one).unwrap();
    let measured = stopped.measured.as_mut().unwrap();
    measured.latency = latency((0..900).map(|_| 1000).chain([2_000_000; 100]));
    stopped.latency_censored = Some(latency([2_000_000; 100]).histogram);
    let judgement = within(&run, "old", "new", &rule);
    assert_eq!(findings(&judgement), [Finding::Unjudged]);
    assert_eq!(first(&judgement).undecided, Some(Undecided::OnlyBounds { system: "new".to_owned() }));
    assert_eq!((first(&judgement).gate, judgement.outcome), (GateVote::Open, GateOutcome::NotDecided));
    let turned = within(&run, "new", "old", &rule);
    assert_eq!(first(&turned).gate, GateVote::Abstains, "the base has only bounds too");
    // The median latency can be judged, because the unfinished events are too few to change it.
    let median = Rule { quantity: Quantity::LatencyP50, ..rule };
    assert_eq!(findings(&within(&run, "old", "new", &median)), [Finding::Same]);
    assert_eq!(findings(&judge(&run)), [Finding::Same], "the rate is judged");
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

/// Checks the share of false alarms in runs of equal systems with 2% noise, twelve tests and eight trials each.
#[test]
fn equals_pass_the_gate_but_for_the_share_of_alarms_promised() {
    let experiments = 200;
    let mut run = run_with(&[1.0; 12], 8);
    // Without latencies, the test is faster. Parsing them would take most of its time.
    run.trials
        .iter_mut()
        .filter_map(|trial| trial.record.measured.as_mut())
        .for_each(|it| it.latency = LatencyRecord::default());
    let alarms = (0..experiments).filter(|experiment| {
        let mut run = run.clone();
        let rates = around(1000.0, 0.04, run.trials.len(), *experiment);
        for (measured, rate) in
            run.trials.iter_mut().filter_map(|trial| trial.record.measured.as_mut()).zip(rates)
        {
            measured.counts.operations = (10.0 * rate) as u64;
        }
        let rule = Rule { margin: Margin::new(0.0).unwrap(), ..Rule::default() };
        let judgement = within(&run, "old", "new", &rule);
        findings(&judgement).iter().any(|finding| matches!(finding, Finding::Improved | Finding::Regressed))
    });
    // If 5% of the runs have an alarm, 10 of 200 are expected. The limit adds 3.1 standard deviations.
    assert!(alarms.count() <= 20);
}
