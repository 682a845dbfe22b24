//! Sessions that differ: seeded simulations of whole judgements.

use dyno_stats::{Margin, SplitMix64};
use dyno_store::Run;

use super::*;
use crate::compare::comparison::{Finding, GateOutcome, Judgement, Undecided, compare, compare_sessions};
use crate::compare::rule::Rule;
use crate::sample::{add_step, run};
use crate::trial::check::TrialChecks;
use crate::trial::member::ComparedSystem;

static NO_CHECKS: TrialChecks = TrialChecks::new();

/// Noise of a round.
const ROUND: f64 = 0.01;

/// A standard normal deviate: the sum of twelve uniform ones.
fn normal(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
}

/// A session of `rounds` rounds with a pinned system and a system that is `ratio` times as fast. The session
/// makes both faster or slower alike.
fn session(id: i64, ratio: f64, rounds: usize, between_sessions: f64, random: &mut SplitMix64) -> Run {
    let mut run = run(id, &["pinned", "db"]);
    let of_session = between_sessions * normal(random);
    let mut rates = |ratio: f64| -> Vec<f64> {
        (0..rounds).map(|_| 1000.0 * ratio * (of_session + ROUND * normal(random)).exp()).collect()
    };
    let (pinned, db) = (rates(1.0), rates(ratio));
    add_step(&mut run, "reads", "point", 4, &[("pinned", pinned), ("db", db)]);
    // Parsing latencies takes most of the time.
    let measured = run.trials.iter_mut().filter_map(|trial| trial.record.measured.as_mut());
    measured.for_each(|measured| measured.latency = dyno_store::LatencyRecord::default());
    run
}

fn of(run: &Run) -> ComparedSystem<'_> {
    ComparedSystem { run, checks: &NO_CHECKS, system: "db" }
}

fn without_margin() -> Rule {
    Rule { margin: Margin::new(0.0).unwrap(), ..Rule::default() }
}

fn is_alarm(judgement: &Judgement) -> bool {
    let finding = judgement.comparisons[0].tests[0].finding;
    matches!(finding, Finding::Improved | Finding::Regressed)
}

/// Judgements of `experiments` pairs of sides with this many sessions: one of eight rounds, or several of
/// three.
fn judgements(
    ratio: f64,
    sessions: i64,
    between_sessions: f64,
    is_anchored: bool,
    experiments: u64,
) -> impl Iterator<Item = Judgement> {
    (0..experiments).map(move |experiment| {
        let mut random = SplitMix64::new(experiment);
        let mut side = |first: i64, ratio: f64| -> Vec<Run> {
            let session = |id| {
                let rounds = if sessions == 1 { 8 } else { 3 };
                let mut run = session(id, ratio, rounds, between_sessions, &mut random);
                run.systems[0].is_anchor = is_anchored;
                run
            };
            (first..first + sessions).map(session).collect()
        };
        let (base, candidate) = (side(1, 1.0), side(101, ratio));
        let sides = (base.iter().map(of).collect(), candidate.iter().map(of).collect());
        compare_sessions(&[sides], &without_margin())
    })
}

/// The largest number of false alarms among `experiments` pairs of equal systems that is compatible with an error
/// of 5%, with a probability of 99.9%.
fn alarms_max(experiments: u64) -> usize {
    let n = experiments as f64;
    (0.05 * n + 3.1 * (0.05 * 0.95 * n).sqrt()).ceil() as usize
}

#[test]
fn equals_of_two_sessions_have_a_ratio_and_no_verdict() {
    for between_sessions in [0.0, 0.02, 0.04, 0.08] {
        for judgement in judgements(1.0, 1, between_sessions, false, 60) {
            let test = &judgement.comparisons[0].tests[0];
            assert_eq!((test.finding, &test.undecided), (Finding::Unjudged, &Some(Undecided::OneSession)));
            assert!(test.ratio.is_some_and(|ratio| (0.6..1.6).contains(&ratio)));
            assert_eq!((test.interval, test.p, test.rules_out_regression), (None, None, false));
            let mean = judgement.comparisons[0].overall.as_ref().unwrap();
            assert_eq!((mean.interval, test.costs.values().find_map(|cost| cost.interval)), (None, None));
            assert_eq!(judgement.outcome, GateOutcome::NotDecided);
        }
    }
}

#[test]
fn a_common_anchor_cancels_the_session() {
    for between_sessions in [0.02, 0.04, 0.08] {
        let alarms = judgements(1.0, 1, between_sessions, true, 200).filter(is_alarm).count();
        assert!(alarms <= alarms_max(200), "{between_sessions}: {alarms}");
        let found = judgements(0.9, 1, between_sessions, true, 60).filter(is_alarm).count();
        assert!(found >= 57, "{between_sessions}: {found} of 60");
    }
    let judgements: Vec<Judgement> = judgements(0.9, 1, 0.08, true, 100).collect();
    let holds = |judgement: &&Judgement| {
        let test = &judgement.comparisons[0].tests[0];
        assert_eq!(test.replicates, Replicates::AnchoredRounds);
        test.interval.is_some_and(|interval| interval.low < 0.9 && 0.9 < interval.high)
    };
    let held = judgements.iter().filter(holds).count();
    assert!(held >= 100 - alarms_max(100), "{held} of 100 intervals hold the truth");
}

#[test]
fn sessions_are_the_replicates_of_several_runs_a_side() {
    for (between_sessions, sessions) in [(0.02, 5), (0.04, 8), (0.08, 8)] {
        let alarms = judgements(1.0, sessions, between_sessions, false, 100).filter(is_alarm).count();
        assert!(alarms <= alarms_max(100), "{between_sessions}: {alarms}");
    }
    let found = |between_sessions, sessions| {
        judgements(0.9, sessions, between_sessions, false, 40).filter(is_alarm).count()
    };
    let (some, more) = (found(0.02, 5), found(0.04, 8));
    assert!(some >= 36 && more >= 36, "{some} and {more} of 40");
    let judgement = judgements(0.9, 5, 0.02, false, 1).next().unwrap();
    let comparison = &judgement.comparisons[0];
    assert_eq!((comparison.base.runs.len(), comparison.candidate.runs[0]), (5, 101));
    let test = &comparison.tests[0];
    assert_eq!((test.replicates, test.base_rounds), (Replicates::Sessions, 15));
    assert_eq!(comparison.overall.as_ref().unwrap().rounds, 5);
}

#[test]
fn too_few_sessions_say_how_many_the_family_takes() {
    let wanted = |sessions, tests: usize| {
        let mut random = SplitMix64::new(1);
        let mut side = |ids: std::ops::Range<i64>, ratio: f64| -> Vec<Run> {
            let mut make = |id| {
                let mut run = session(id, ratio, 3, 0.001, &mut random);
                for at in 1..tests {
                    let rates = vec![1000.0 * ratio + id as f64; 3];
                    add_step(&mut run, "reads", &format!("s{at}"), 4, &[("db", rates)]);
                }
                run
            };
            ids.map(&mut make).collect()
        };
        let (base, candidate) = (side(0..sessions, 1.0), side(100..100 + sessions, 0.9));
        let sides = (base.iter().map(of).collect(), candidate.iter().map(of).collect());
        compare_sessions(&[sides], &Rule::default()).comparisons[0].tests[0].undecided.clone()
    };
    // 2/C(8, 4) ≤ 0.05, and 2/C(14, 7) ≤ 0.05/24.
    assert_eq!(wanted(2, 1), Some(Undecided::TooFewSessions { sessions: 2, wanted: 4 }));
    assert_eq!(wanted(3, 1), Some(Undecided::TooFewSessions { sessions: 3, wanted: 4 }));
    assert_eq!(wanted(4, 1), None);
    assert_eq!(wanted(4, 24), Some(Undecided::TooFewSessions { sessions: 4, wanted: 7 }));
    assert_eq!(wanted(7, 24), None);
}

#[test]
fn anchors_that_differ_do_not_anchor() {
    let mut random = SplitMix64::new(3);
    let mut session = |id| {
        let mut run = session(id, 1.0, 8, 0.04, &mut random);
        run.systems[0].is_anchor = true;
        run.systems[0].engine_version = Some("10.11.6".to_owned());
        run
    };
    let (base, mut candidate) = (session(1), session(2));
    candidate.systems[0].engine_version = Some("10.11.7".to_owned());
    let judgement = compare(&[(of(&base), of(&candidate))], &Rule::default());
    let anchor = judgement.comparisons[0].anchor.as_ref().unwrap();
    assert!(!anchor.is_used());
    let says: Vec<String> = anchor.differences.iter().map(ToString::to_string).collect();
    assert_eq!(says, ["version, 10.11.6 in run 1 for the base, 10.11.7 in run 2 for the candidate"]);
    assert_eq!(judgement.comparisons[0].tests[0].undecided, Some(Undecided::OneSession));
    candidate.systems[0].engine_version = Some("10.11.6".to_owned());
    let judgement = compare(&[(of(&base), of(&candidate))], &Rule::default());
    assert_eq!(judgement.comparisons[0].tests[0].replicates, Replicates::AnchoredRounds);
    // The anchor against itself would be 1.
    let pinned = |run| ComparedSystem { system: "pinned", ..of(run) };
    let itself = compare(&[(pinned(&base), pinned(&candidate))], &Rule::default());
    assert_eq!(itself.comparisons[0].anchor, None);
    assert_eq!(itself.comparisons[0].tests[0].undecided, Some(Undecided::OneSession));
}
