//! Sentences on a comparison.

use dyno_judge::{
    Comparison, Finding, GateOutcome, GateVote, GroupMean, Judgement, Method, Replicates, SharedAnchor, Side,
    TestComparison, Undecided,
};
use dyno_stats::{Interval, ROUNDS_MIN};

use crate::wording::number::{confidence, counted, margin, ratio};
use crate::wording::{phrases, words};

/// Returns the overall verdict, which is the first line of the report.
pub(super) fn outcome(judgement: &Judgement) -> String {
    match judgement.outcome {
        GateOutcome::SomeRegressed => "Regressed.".to_owned(),
        GateOutcome::NoneRegressed => "Nothing regressed.".to_owned(),
        GateOutcome::NotDecided if are_same(judgement) => {
            "Nothing to compare: the systems are the same, since the settings that should differ are not in force."
                .to_owned()
        }
        GateOutcome::NotDecided => not_decided(judgement),
    }
}

/// Whether each candidate is the same system as its base.
fn are_same(judgement: &Judgement) -> bool {
    let mut subjects = judgement.comparisons.iter().filter(|comparison| !comparison.is_control).peekable();
    subjects.peek().is_some() && subjects.all(|comparison| comparison.same_for.is_some())
}

/// States why the gate does not pass. If other programs disturbed rounds, the sentence says so. Otherwise it names
/// the tests that more rounds cannot decide, or estimates how many more rounds are needed.
fn not_decided(judgement: &Judgement) -> String {
    if let Some(disturbed) = judgement.disturbed() {
        return format!("Not decided: {}.", words::disturbed_tests(&disturbed));
    }
    let open = || {
        let comparisons = judgement.comparisons.iter().filter(|comparison| !comparison.is_control);
        let tests =
            comparisons.flat_map(|comparison| comparison.tests.iter().map(move |test| (comparison, test)));
        tests.filter(|(_, test)| test.gate == GateVote::Open)
    };
    if open().next().is_some() && open().all(|(_, test)| is_of_one_session(test)) {
        return format!("Not decided: each side has only one session. {WHAT_TO_DO}");
    }
    let dropped: Vec<String> =
        open().filter(|(_, test)| is_beyond_rounds(test)).map(|(of, test)| named(of, test)).collect();
    if !dropped.is_empty() {
        let more = dropped.len().saturating_sub(DROPPED_NAMED_MAX);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let named = dropped.into_iter().take(DROPPED_NAMED_MAX).collect::<Vec<_>>().join("; ");
        return format!("Not decided: {named}{more}.");
    }
    let open = || open().map(|(_, test)| test);
    match open().map(|test| test.more_rounds).max() {
        Some(Some(most)) if open().all(|test| test.more_rounds.is_some()) => {
            let replicates = open().map(|test| test.replicates).find(|it| *it != Replicates::PairedRounds);
            let more = more(replicates.unwrap_or(Replicates::PairedRounds), most);
            format!("Not enough evidence: it takes about {more}.")
        }
        Some(_) => "Not enough evidence.".to_owned(),
        None => match judgement.comparisons.iter().find(|comparison| comparison.same_for.is_some()) {
            Some(same) => format!(
                "Not decided: {} is the same system as {}, since the settings that should differ are not in force.",
                same.candidate.system, same.base.system
            ),
            None => "Not decided: no test can be judged.".to_owned(),
        },
    }
}

/// The first line of the report names at most this many of the tests that more rounds cannot decide. The line about an
/// anchor shows at most this many of the anchor's differences.
const DROPPED_NAMED_MAX: usize = 3;

/// Whether more rounds alone cannot decide the test.
fn is_beyond_rounds(test: &TestComparison) -> bool {
    matches!(test.finding, Finding::Decays | Finding::Unjudged)
}

/// A test with its verdict: `maria in point-query at 4 clients: decays: …`.
fn named(comparison: &Comparison, test: &TestComparison) -> String {
    let clients = counted(u64::from(test.clients), "client");
    let candidate = &comparison.candidate.system;
    format!("{candidate} in {} at {clients}: {}", test.step, verdict(test))
}

/// Tells the user how two runs can get a verdict.
const WHAT_TO_DO: &str =
    "A verdict needs both systems in one plan, several runs per side in turns, or an anchor in the plan.";

/// Returns advice for a test that more rounds cannot decide because each side has only one session; `None` for other
/// tests.
pub(super) fn advice(test: &TestComparison) -> Option<&'static str> {
    is_of_one_session(test).then_some(WHAT_TO_DO)
}

fn is_of_one_session(test: &TestComparison) -> bool {
    test.undecided == Some(Undecided::OneSession)
}

/// What is compared: pairs of sessions, or rounds.
pub(super) fn units(replicates: Replicates) -> &'static str {
    match replicates {
        Replicates::PairedSessions => "pairs",
        Replicates::AnchoredSessions => "sessions",
        Replicates::PairedRounds | Replicates::AnchoredRounds | Replicates::OneSession => "rounds",
    }
}

/// The missing replicates: `3 more rounds`, `1 more session per side, in turns`.
fn more(replicates: Replicates, count: usize) -> String {
    match replicates {
        Replicates::PairedSessions => format!("{} per side, in turns", counted(count as u64, "more session")),
        Replicates::AnchoredSessions => format!("{} per side", counted(count as u64, "more session")),
        Replicates::PairedRounds => counted(count as u64, "more round"),
        Replicates::AnchoredRounds | Replicates::OneSession => {
            format!("{} per side", counted(count as u64, "more round"))
        }
    }
}

/// The number of rounds of a test: `7`. If rounds are not compared in pairs, the number on each side: `7 and 6`.
pub(super) fn rounds(test: &TestComparison) -> String {
    if test.replicates == Replicates::PairedRounds {
        test.rounds.len().to_string()
    } else {
        format!("{} and {}", test.base_rounds, test.candidate_rounds)
    }
}

/// Returns `new against old`. If the two systems are from different runs, the numbers of the runs are added.
pub(super) fn title(comparison: &Comparison) -> String {
    let (base, candidate) = (&comparison.base, &comparison.candidate);
    if base.runs == candidate.runs {
        format!("{} against {}", candidate.system, base.system)
    } else {
        let named = |side: &Side| match side.runs.as_slice() {
            [] | [_] => format!("{} of run {}", side.system, side.run),
            runs => {
                let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
                format!("{} of runs {}", side.system, runs.join(", "))
            }
        };
        format!("{} against {}", named(candidate), named(base))
    }
}

/// States whether the anchor that the two runs share is used. If it is not used, states how the anchor differs between
/// the runs.
pub(super) fn anchor(anchor: &SharedAnchor) -> String {
    if anchor.is_used() {
        let version =
            anchor.engine_version.as_ref().map(|version| format!(", {version}")).unwrap_or_default();
        return format!(
            "Anchor: {}{version}. Ratios compare multiples of its figures in the same rounds.",
            anchor.system
        );
    }
    let differences: Vec<String> =
        anchor.differences.iter().take(DROPPED_NAMED_MAX).map(ToString::to_string).collect();
    let more = anchor.differences.len().saturating_sub(DROPPED_NAMED_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!(
        "The anchor {} is not used, since the runs' anchors differ: {}{more}.",
        anchor.system,
        differences.join("; ")
    )
}

/// A side's engine with its version.
pub(super) fn side(side: &Side) -> String {
    let version = side.engine_version.as_deref().unwrap_or("version unknown, it never started");
    format!("{}, {version}", side.name)
}

/// The number of tests with each verdict, the mean, and the worst test.
pub(super) fn summary(comparison: &Comparison) -> String {
    let words = [
        (Finding::Regressed, "regressed"),
        (Finding::Failed, "failed"),
        (Finding::Improved, "improved"),
        (Finding::Same, "the same"),
        (Finding::Decays, "decaying"),
        (Finding::NotEnoughEvidence, "without enough evidence"),
        (Finding::Unjudged, "not judged"),
    ];
    let counts: Vec<String> = words
        .into_iter()
        .map(|(finding, word)| (comparison.count(finding), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let tests = counted(comparison.tests.len() as u64, "test");
    let mut sentences = vec![format!("Of {tests}: {}.", counts.join(", "))];
    if let Some(mean) = comparison.overall.as_ref().filter(|mean| mean.tests > 1) {
        sentences.push(format!("Geometric mean over all tests: {}.", group(mean)));
    }
    if let Some(worst) = worst(comparison) {
        let clients = counted(u64::from(worst.clients), "client");
        sentences.push(format!("Worst: {} at {clients}, {}.", worst.step, ratio_of(worst)));
    }
    sentences.join(" ")
}

/// The regressed test whose ratio is furthest from 1.
fn worst(comparison: &Comparison) -> Option<&TestComparison> {
    let distance = |test: &TestComparison| test.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    comparison
        .tests
        .iter()
        .filter(|test| test.finding == Finding::Regressed)
        .max_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Returns a mean ratio with its interval.
pub(super) fn group(mean: &GroupMean) -> String {
    with_interval(mean.ratio, mean.interval)
}

/// A test's ratio with its interval; a dash if the test has no ratio.
pub(super) fn ratio_of(test: &TestComparison) -> String {
    test.ratio.map_or_else(|| "–".to_owned(), |ratio| with_interval(ratio, test.interval))
}

fn with_interval(value: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => format!("{} ({}–{})", digits(value), digits(interval.low), digits(interval.high)),
        None => digits(value),
    }
}

/// Formats a ratio, with three decimals near 1. Margins are a few hundredths, and rounding must not hide a
/// difference of that size.
fn digits(value: f64) -> String {
    if (0.5..2.0).contains(&value) { format!("{value:.3}") } else { ratio(value) }
}

pub(super) fn verdict(test: &TestComparison) -> String {
    let because =
        test.undecided.as_ref().map(|why| format!(": {}", words::undecided(why))).unwrap_or_default();
    match test.finding {
        Finding::Improved => "improved".to_owned(),
        Finding::Regressed => "regressed".to_owned(),
        Finding::Same => "the same".to_owned(),
        Finding::Failed => "failed".to_owned(),
        Finding::Decays => format!("decays{because}"),
        Finding::Unjudged => format!("not judged{because}"),
        Finding::NotEnoughEvidence => format!("not enough evidence{}", wanted(test).unwrap_or(because)),
    }
}

/// States how many rounds or sessions a verdict needs, or that the ratio is too close to the margin. `None` if the
/// test is undecided for another reason.
fn wanted(test: &TestComparison) -> Option<String> {
    let side = if test.replicates == Replicates::PairedRounds { "" } else { " per side" };
    match (&test.undecided, test.more_rounds) {
        (Some(Undecided::TooFewRounds { wanted, .. }), _) => {
            Some(format!(": it needs {}{side}", counted(*wanted as u64, "round")))
        }
        (Some(Undecided::TooFewSessions { wanted, .. }), _) => {
            let in_turns = if test.replicates == Replicates::PairedSessions { ", in turns" } else { "" };
            Some(format!(": it needs {}{side}{in_turns}", counted(*wanted as u64, "session")))
        }
        (Some(Undecided::Interval), Some(count)) => Some(format!(": about {}", more(test.replicates, count))),
        (Some(Undecided::Interval), None) => Some(": too close to the margin".to_owned()),
        _ => None,
    }
}

/// Explains the verdicts.
pub(super) fn how_to_read(judgement: &Judgement) -> String {
    let rule = &judgement.rule;
    let is_noisy = tests(judgement).any(|test| test.alarm_margin > rule.margin);
    let noise = if is_noisy { " (more for an alarm, if an A/A pair differs by more)" } else { "" };
    format!(
        "Ratios are of {}. A difference counts from {}{noise}, {}. {}Intervals are of {}, for one test alone.",
        rule.quantity.name(),
        margin(rule),
        phrases::error(rule),
        methods(judgement),
        confidence(rule),
    )
}

fn tests(judgement: &Judgement) -> impl Iterator<Item = &TestComparison> {
    judgement.comparisons.iter().flat_map(|comparison| &comparison.tests)
}

/// Explains how ratios and intervals are computed. Each sentence ends with a space.
fn methods(judgement: &Judgement) -> String {
    let has = |method| tests(judgement).any(|test| test.method == method);
    let are = |replicates| tests(judgement).any(|test| test.replicates == replicates && test.ratio.is_some());
    let compared = tests(judgement).find(|test| test.ratio.is_some());
    let units = compared.map_or("rounds", |test| units(test.replicates));
    let mut sentences = Vec::new();
    if has(Method::Exact) {
        sentences.push(format!(
            "The ratio is the middle of the {units} (Hodges and Lehmann), with its exact interval."
        ));
    }
    if has(Method::StudentT) {
        sentences.push(format!(
            "With fewer than {ROUNDS_MIN} {units}, the ratio is their geometric mean, with a t interval."
        ));
    }
    if has(Method::ThisPairOnly) {
        sentences.push(format!(
            "One round: this pair of servers only. Its intervals come from slices and hold for these servers; a verdict \
             takes rounds (at least {ROUNDS_MIN} for an exact interval)."
        ));
    }
    if are(Replicates::OneSession) {
        sentences.push(format!(
            "The runs did not take turns, so a difference between the two sessions cannot be distinguished from one between the systems, \
             however many rounds they have: ratios are shown without intervals and verdicts. {WHAT_TO_DO}"
        ));
    }
    if are(Replicates::AnchoredRounds) {
        sentences.push(
            "The runs did not take turns. Each figure is divided by that of the anchor in the same round, so that the effect of \
             the session cancels, and the rounds are compared side by side."
                .to_owned(),
        );
    }
    if are(Replicates::PairedSessions) || are(Replicates::AnchoredSessions) {
        sentences.push(
            "Each run is a session and counts once, with the middle of its rounds, because all rounds of a session share its effects."
                .to_owned(),
        );
    }
    if are(Replicates::PairedSessions) {
        sentences.push(
            "Each session is paired with a neighbour in time of the other side, so that slow changes of the host cancel."
                .to_owned(),
        );
    }
    if has(Method::Unpaired) {
        sentences.push(
            "The interval is the exact one of the shift between the two sides (Mann and Whitney).".to_owned(),
        );
    }
    // An empty string at the end makes `join` end the text with a space.
    sentences.push(String::new());
    sentences.join(" ")
}
