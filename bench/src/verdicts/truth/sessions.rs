//! Treats each family of equal systems as a session on a different day.

use dyno_judge::{
    ComparedSystem, Finding, Judgement, TestComparison, TrialChecks, compare, compare_sessions,
};
use dyno_stats::ROUNDS_MIN;
use dyno_store::Run;

use super::experiments::{experiments, has_alarm, no_margin};
use super::score::{Goal, Score};

/// Numbers of rounds in a session when several sessions per side are compared.
const SESSION_ROUNDS: [usize; 2] = [1, 3];

/// Compares a base and a candidate from different sessions. Returns four shares, the last two for each number of
/// rounds: verdicts from two sessions without an anchor; alarms from two sessions with an anchor; alarms from several
/// sessions per side, in turns; verdicts from several sessions per side, one side after the other.
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

    for rounds in SESSION_ROUNDS {
        let sessions = experiments(run, rounds);
        let both: Vec<&[Run]> = sessions.chunks_exact(2 * ROUNDS_MIN).collect();
        let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        let a_side = format!("{ROUNDS_MIN} sessions a side of {rounds}");
        let alarmed = both.iter().filter(|runs| has_alarm(&several(runs, is_base_in_turns))).count();
        let of = format!("{a_side}, in turns, with an alarm (max-t)");
        scores.push(Score::share(of, alarmed, both.len(), goal));
        let judged = both.iter().filter(|runs| several(runs, is_base_first).iter().any(has_verdict)).count();
        let of = format!("{a_side}, one side after the other, with a verdict");
        scores.push(Score::share(of, judged, both.len(), goal));
    }
    scores
}

/// Whether the session at this place in time belongs to the base, if the sides take turns and each comes first equally
/// often: A B B A.
fn is_base_in_turns(at: usize) -> bool {
    matches!(at % 4, 0 | 3)
}

/// Whether the session at this place in time belongs to the base, if all sessions of the base come first.
fn is_base_first(at: usize) -> bool {
    at < ROUNDS_MIN
}

/// Compares a system of the second run with a system of the first run, which is the base.
fn two(runs: &[Run], base: &str, candidate: &str) -> Vec<TestComparison> {
    let checks = TrialChecks::new();
    let of = |run, system| ComparedSystem { run, checks: &checks, system };
    timed(compare(&[(of(&runs[0], base), of(&runs[1], candidate))], &no_margin()))
}

/// Compares a system of the sessions for which `is_base` holds with a system of the other sessions. The sessions are in
/// the order of time, and `is_base` gets their places.
fn several(sessions: &[Run], is_base: impl Fn(usize) -> bool) -> Vec<TestComparison> {
    let checks = TrialChecks::new();
    let side = |wanted: bool, system| -> Vec<ComparedSystem<'_>> {
        let runs = sessions.iter().enumerate().filter(|(at, _)| is_base(*at) == wanted);
        runs.map(|(_, run)| ComparedSystem { run, checks: &checks, system }).collect()
    };
    timed(compare_sessions(&[(side(true, "a"), side(false, "b"))], &no_margin()))
}

/// Returns the tests of the only comparison, without loads.
fn timed(judgement: Judgement) -> Vec<TestComparison> {
    let tests = judgement.comparisons.into_iter().flat_map(|comparison| comparison.tests);
    tests.filter(|test| test.step != "load").collect()
}

/// Returns the run with its first system marked as the anchor.
pub(super) fn with_anchor(run: &Run) -> Run {
    let mut run = run.clone();
    for system in run.systems.iter_mut().filter(|system| system.id == "a") {
        system.is_anchor = true;
    }
    run
}
