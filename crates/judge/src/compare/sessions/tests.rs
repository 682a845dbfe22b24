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

/// Standard deviation of the logarithm of a rate between rounds.
const ROUND: f64 = 0.01;

/// A standard normal deviate: the sum of twelve uniform numbers, minus 6.
fn normal(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
}

/// A session of `rounds` rounds with the system `pinned` and a system that is `ratio` times as fast. `speed` is the
/// logarithm of the host's speed, which affects both systems equally.
fn session(id: i64, ratio: f64, rounds: usize, speed: f64, random: &mut SplitMix64) -> Run {
    let mut run = run(id, &["pinned", "db"]);
    let mut rates = |ratio: f64| -> Vec<f64> {
        (0..rounds).map(|_| 1000.0 * ratio * (speed + ROUND * normal(random)).exp()).collect()
    };
    let (pinned, db) = (rates(1.0), rates(ratio));
    add_step(&mut run, "reads", "point", 4, &[("pinned", pinned), ("db", db)]);
    // Without latencies, the test is faster. Parsing them would take most of its time.
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

/// Whether the session at this position in time belongs to the base, in an order in which each side comes first equally
/// often: A B B A.
fn is_base_in_turns(at: usize) -> bool {
    matches!(at % 4, 0 | 3)
}

/// Judges two sides. The candidate is `ratio` times as fast as the base. The host's speed changes from session to
/// session: `speeds` has its logarithm in each session, in the order of time. A side has one session of eight rounds,
/// or several sessions of three rounds.
fn judge(
    ratio: f64,
    speeds: &[f64],
    is_base: impl Fn(usize) -> bool,
    is_anchored: bool,
    random: &mut SplitMix64,
) -> Judgement {
    let rounds = if speeds.len() == 2 { 8 } else { 3 };
    let mut session = |(at, speed): (usize, &f64)| {
        let ratio = if is_base(at) { 1.0 } else { ratio };
        let mut run = session(at as i64, ratio, rounds, *speed, random);
        run.systems[0].is_anchor = is_anchored;
        run
    };
    let runs: Vec<Run> = speeds.iter().enumerate().map(&mut session).collect();
    let (base, candidate): (Vec<&Run>, Vec<&Run>) =
        runs.iter().partition(|run| is_base(usize::try_from(run.id.0).unwrap()));
    let sides = (base.into_iter().map(of).collect(), candidate.into_iter().map(of).collect());
    compare_sessions(&[sides], &without_margin())
}

/// Judges simulated pairs of sides in turns, `experiments` times. The speed of the host differs independently between
/// sessions, with this standard deviation of its logarithm.
fn judgements(
    ratio: f64,
    sessions: usize,
    between_sessions: f64,
    is_anchored: bool,
    experiments: u64,
) -> impl Iterator<Item = Judgement> {
    (0..experiments).map(move |experiment| {
        let mut random = SplitMix64::new(experiment);
        let speeds: Vec<f64> = (0..2 * sessions).map(|_| between_sessions * normal(&mut random)).collect();
        judge(ratio, &speeds, is_base_in_turns, is_anchored, &mut random)
    })
}

/// The largest plausible number of false alarms among `experiments` pairs of equal systems, if the error probability
/// is 5%. Chance exceeds this number in only one case in 1000.
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
fn pairs_of_sessions_are_the_replicates_of_several_runs_a_side() {
    for (between_sessions, sessions) in [(0.02, 6), (0.04, 8), (0.08, 8)] {
        let alarms = judgements(1.0, sessions, between_sessions, false, 100).filter(is_alarm).count();
        assert!(alarms <= alarms_max(100), "{between_sessions}: {alarms}");
    }
    let found = |between_sessions, sessions| {
        judgements(0.9, sessions, between_sessions, false, 40).filter(is_alarm).count()
    };
    let (some, more) = (found(0.02, 6), found(0.04, 8));
    assert!(some >= 36 && more >= 36, "{some} and {more} of 40");
    let judgement = judgements(0.9, 6, 0.02, false, 1).next().unwrap();
    let comparison = &judgement.comparisons[0];
    assert_eq!((&*comparison.base.runs, comparison.candidate.runs[0]), (&[0, 3, 4, 7, 8, 11][..], 1));
    let test = &comparison.tests[0];
    assert_eq!((test.replicates, test.base_rounds), (Replicates::PairedSessions, 18));
    assert_eq!(comparison.overall.as_ref().unwrap().rounds, 6);
    assert_eq!(judgement.rule.correction, Some(dyno_store::Correction::MaxT));
}

/// Equal systems on a host whose speed changes slowly: each session resembles the one before, or is slower than it.
#[test]
fn slow_changes_of_the_host_do_not_raise_alarms() {
    let alarms = |is_base: fn(usize) -> bool, change: fn(f64, f64) -> f64| {
        let judge = |experiment| {
            let mut random = SplitMix64::new(experiment);
            let mut speed = 0.0;
            let next = |_| {
                speed = change(speed, normal(&mut random));
                speed
            };
            let speeds: Vec<f64> = (0..16).map(next).collect();
            judge(1.0, &speeds, is_base, false, &mut random)
        };
        (0..100).map(judge).filter(is_alarm).count()
    };
    let resembles = |speed: f64, normal: f64| 0.8 * speed + 0.06 * normal;
    let slows = |speed: f64, normal: f64| speed - 0.02 + 0.001 * normal;
    for (name, change) in [("resembles", resembles as fn(f64, f64) -> f64), ("slows", slows)] {
        let in_turns = alarms(is_base_in_turns, change);
        assert!(in_turns <= alarms_max(100), "{name}: {in_turns}");
        let one_first = alarms(|at| at % 2 == 0, change);
        assert!(one_first <= alarms_max(100), "{name}, A always first: {one_first}");
        assert_eq!(alarms(|at| at < 8, change), 0, "{name}, one side after the other");
    }
}

#[test]
fn sides_one_after_the_other_have_no_verdict_however_many_sessions_they_have() {
    let judgement = judge(0.5, &[0.0; 24], |at| at < 12, false, &mut SplitMix64::new(1));
    let test = &judgement.comparisons[0].tests[0];
    assert_eq!(test.undecided, Some(Undecided::NotAlternating { pairs: 1, wanted: 6 }));
    assert_eq!((test.interval, judgement.outcome), (None, GateOutcome::NotDecided));
    let anchored = judge(0.5, &[0.0; 24], |at| at < 12, true, &mut SplitMix64::new(1));
    let test = &anchored.comparisons[0].tests[0];
    assert_eq!((test.finding, test.replicates), (Finding::Regressed, Replicates::AnchoredSessions));
}

/// The last session of the base was slow. It is the only session of the base that has a neighbour of the other side.
#[test]
fn the_ratio_of_sides_one_after_the_other_is_that_of_all_sessions() {
    let speeds: Vec<f64> = (0..12).map(|at| if at == 5 { -0.7 } else { 0.0 }).collect();
    let judgement = judge(0.8, &speeds, |at| at < 6, false, &mut SplitMix64::new(1));
    let comparison = &judgement.comparisons[0];
    let overall = comparison.overall.as_ref().unwrap();
    for (ratio, interval) in [
        (comparison.tests[0].ratio.unwrap(), comparison.tests[0].interval),
        (overall.ratio, overall.interval),
    ] {
        assert!((0.77..0.83).contains(&ratio), "{ratio}");
        assert_eq!(interval, None);
    }
}

#[test]
fn too_few_sessions_say_how_many_it_takes() {
    let wanted = |sessions: usize, tests: usize, is_anchored: bool| {
        let mut random = SplitMix64::new(1);
        let mut make = |at: usize| {
            let ratio = if is_base_in_turns(at) { 1.0 } else { 0.9 };
            let mut run = session(at as i64, ratio, 3, 0.0, &mut random);
            run.systems[0].is_anchor = is_anchored;
            for number in 1..tests {
                let rates = vec![1000.0 * ratio + at as f64; 3];
                let pinned = vec![1000.0; 3];
                add_step(&mut run, "reads", &format!("s{number}"), 4, &[("pinned", pinned), ("db", rates)]);
            }
            run
        };
        let runs: Vec<Run> = (0..2 * sessions).map(&mut make).collect();
        let side = |wanted: bool| -> Vec<ComparedSystem<'_>> {
            let runs = runs.iter().enumerate().filter(|(at, _)| is_base_in_turns(*at) == wanted);
            runs.map(|(_, run)| of(run)).collect()
        };
        let judgement = compare_sessions(&[(side(true), side(false))], &Rule::default());
        judgement.comparisons[0].tests[0].undecided.clone()
    };
    let too_few = |sessions, wanted| Some(Undecided::TooFewSessions { sessions, wanted });
    // Max-T needs six pairs for any number of tests, because 2/2⁶ ≤ 0.05.
    for tests in [1, 24] {
        assert_eq!(wanted(5, tests, false), too_few(5, 6));
        assert_eq!(wanted(6, tests, false), None);
    }
    // With an anchor, one test needs four sessions of each system, because 2/C(8, 4) ≤ 0.05. 24 tests need seven, because
    // 2/C(14, 7) ≤ 0.05/24.
    assert_eq!(wanted(3, 1, true), too_few(3, 4));
    assert_eq!(wanted(4, 1, true), None);
    assert_eq!(wanted(4, 24, true), too_few(4, 7));
    assert_eq!(wanted(7, 24, true), None);
}

#[test]
fn anchors_that_differ_do_not_anchor() {
    let mut random = SplitMix64::new(3);
    let mut session = |id| {
        let speed = 0.04 * normal(&mut random);
        let mut run = session(id, 1.0, 8, speed, &mut random);
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
    // The anchor is not divided by itself, because that would always give 1.
    let pinned = |run| ComparedSystem { system: "pinned", ..of(run) };
    let itself = compare(&[(pinned(&base), pinned(&candidate))], &Rule::default());
    assert_eq!(itself.comparisons[0].anchor, None);
    assert_eq!(itself.comparisons[0].tests[0].undecided, Some(Undecided::OneSession));
}
