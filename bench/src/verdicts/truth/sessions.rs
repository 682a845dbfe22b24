//! Families of equal systems, taken as sessions of days of their own.

use dyno_judge::{
    ComparedSystem, Finding, Judgement, TestComparison, TrialChecks, compare, compare_sessions,
};
use dyno_stats::{CONFIDENCE, rounds_a_side_min};
use dyno_store::Run;

use super::experiments::{experiments, has_alarm, no_margin};
use super::score::{Goal, Score};

/// Rounds of a session, if several sessions a side are compared.
const SESSION_ROUNDS: usize = 3;

/// Verdicts on two sessions without an anchor, alarms of two sessions with one, and alarms of several sessions
/// a side. The base comes from other sessions than the candidate.
pub(super) fn scores(run: &Run, family_rounds: usize, goal: Goal) -> Vec<Score> {
    let families = experiments(run, family_rounds);
    let pairs: Vec<&[Run]> = families.chunks_exact(2).collect();
    let has_verdict = |test: &TestComparison| {
        matches!(test.finding, Finding::Improved | Finding::Regressed | Finding::Same)
    };
    let judged = pairs.iter().filter(|pair| two(pair, "a", "b").iter().any(has_verdict)).count();
    let mut scores = vec![Score::share(
        "two sessions without an anchor, with a verdict".to_owned(),
        judged,
        pairs.len(),
        goal,
    )];

    let anchored: Vec<Run> = families.iter().map(with_anchor).collect();
    let pairs: Vec<&[Run]> = anchored.chunks_exact(2).collect();
    let alarmed = pairs.iter().filter(|pair| has_alarm(&two(pair, "b", "b"))).count();
    let of = "two sessions with an anchor, with an alarm (holm)";
    scores.push(Score::share(of.to_owned(), alarmed, pairs.len(), goal));

    let tests = families.first().map_or(1, |family| two(&[family.clone(), family.clone()], "a", "b").len());
    let a_side = rounds_a_side_min(1.0 - (1.0 - CONFIDENCE) / tests.max(1) as f64);
    let sessions = experiments(run, SESSION_ROUNDS);
    let sides: Vec<(&[Run], &[Run])> =
        sessions.chunks_exact(2 * a_side).map(|sessions| sessions.split_at(a_side)).collect();
    let alarmed = sides.iter().filter(|(base, candidate)| has_alarm(&several(base, candidate))).count();
    let of = format!("{a_side} sessions a side of {SESSION_ROUNDS} rounds, with an alarm (holm)");
    scores.push(Score::share(of, alarmed, sides.len(), goal));
    scores
}
/// A system of the first run against a system of the second.
fn two(runs: &[Run], base: &str, candidate: &str) -> Vec<TestComparison> {
    let checks = TrialChecks::new();
    let of = |run, system| ComparedSystem { run, checks: &checks, system };
    timed(compare(&[(of(&runs[0], base), of(&runs[1], candidate))], &no_margin()))
}

fn several(base: &[Run], candidate: &[Run]) -> Vec<TestComparison> {
    let checks = TrialChecks::new();
    let base = base.iter().map(|run| ComparedSystem { run, checks: &checks, system: "a" }).collect();
    let candidate =
        candidate.iter().map(|run| ComparedSystem { run, checks: &checks, system: "b" }).collect();
    timed(compare_sessions(&[(base, candidate)], &no_margin()))
}

/// The tests of the only comparison, without loads.
fn timed(judgement: Judgement) -> Vec<TestComparison> {
    let tests = judgement.comparisons.into_iter().flat_map(|comparison| comparison.tests);
    tests.filter(|test| test.step != "load").collect()
}

/// The run with its first system as the anchor.
pub(super) fn with_anchor(run: &Run) -> Run {
    let mut run = run.clone();
    for system in run.systems.iter_mut().filter(|system| system.id == "a") {
        system.is_anchor = true;
    }
    run
}
