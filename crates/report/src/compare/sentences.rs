//! What a comparison comes to, in sentences.

use dyno_judge::{
    Comparison, Correction, Finding, GateOutcome, GroupMean, Judgement, Rule, Side, TestComparison,
};
use dyno_stats::Interval;

use crate::number::{counted, ratio};

/// The verdict on all: the first line.
pub(super) fn outcome(judgement: &Judgement) -> String {
    match judgement.outcome {
        GateOutcome::SomeRegressed => "Regressed.".to_owned(),
        GateOutcome::NoneRegressed => "Nothing regressed.".to_owned(),
        GateOutcome::NotEnoughEvidence => {
            let open = || {
                let tests = judgement.comparisons.iter().flat_map(|comparison| &comparison.tests);
                tests.filter(|test| is_open(test))
            };
            match open().map(|test| test.more_pairs).max() {
                Some(Some(most)) if open().all(|test| test.more_pairs.is_some()) => {
                    format!("Not enough evidence: it takes about {} of trials a test.", more_pairs(most))
                }
                _ => "Not enough evidence.".to_owned(),
            }
        }
    }
}

/// Whether a test keeps a gate closed for want of evidence.
fn is_open(test: &TestComparison) -> bool {
    test.finding == Finding::NotEnoughEvidence && !test.rules_out_regression
}

fn more_pairs(count: usize) -> String {
    counted(count as u64, "more pair")
}

/// `new against old`, with their runs where they differ.
pub(super) fn title(comparison: &Comparison) -> String {
    let (base, candidate) = (&comparison.base, &comparison.candidate);
    if base.run == candidate.run {
        format!("{} against {}", candidate.system, base.system)
    } else {
        let named = |side: &Side| format!("{} of run {}", side.system, side.run);
        format!("{} against {}", named(candidate), named(base))
    }
}

/// A side's engine with its version.
pub(super) fn side(side: &Side) -> String {
    let version = side.engine_version.as_deref().unwrap_or("version unknown, it never started");
    format!("{}, {version}", side.name)
}

/// How many tests have which verdict, the mean, and the worst.
pub(super) fn summary(comparison: &Comparison) -> String {
    let words = [
        (Finding::Regressed, "regressed"),
        (Finding::Failed, "failed"),
        (Finding::Improved, "improved"),
        (Finding::Same, "the same"),
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

/// The regressed test that is farthest off.
fn worst(comparison: &Comparison) -> Option<&TestComparison> {
    let distance = |test: &TestComparison| test.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    comparison
        .tests
        .iter()
        .filter(|test| test.finding == Finding::Regressed)
        .max_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// A mean with its interval.
pub(super) fn group(mean: &GroupMean) -> String {
    with_interval(mean.ratio, mean.interval)
}

/// A test's ratio with its interval; a dash if there is none.
pub(super) fn ratio_of(test: &TestComparison) -> String {
    test.ratio.map_or_else(|| "–".to_owned(), |ratio| with_interval(ratio, test.interval))
}

fn with_interval(value: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => format!("{} ({}–{})", digits(value), digits(interval.low), digits(interval.high)),
        None => digits(value),
    }
}

/// A ratio with three decimals where it is near 1: margins are of hundredths, and must not round away.
fn digits(value: f64) -> String {
    if (0.5..2.0).contains(&value) { format!("{value:.3}") } else { ratio(value) }
}

/// The verdict on a test.
pub(super) fn verdict(test: &TestComparison) -> String {
    match (test.finding, test.more_pairs) {
        (Finding::Improved, _) => "improved".to_owned(),
        (Finding::Regressed, _) => "regressed".to_owned(),
        (Finding::Same, _) => "same".to_owned(),
        (Finding::Failed, _) => "failed".to_owned(),
        (Finding::Unjudged, _) => "not judged".to_owned(),
        (Finding::NotEnoughEvidence, Some(more)) => {
            format!("not enough evidence: about {}", more_pairs(more))
        }
        (Finding::NotEnoughEvidence, None) => "not enough evidence: too close to the margin".to_owned(),
    }
}

/// How to read the verdicts.
pub(super) fn how_to_read(judgement: &Judgement) -> String {
    let rule = &judgement.rule;
    let tests = || judgement.comparisons.iter().flat_map(|comparison| &comparison.tests);
    let is_noisy = tests().any(|test| test.margin > rule.margin);
    let noise = if is_noisy { ", more where an A/A pair differs by more" } else { "" };
    let unpaired = tests().any(|test| test.ratio.is_some() && !test.is_paired);
    let method = if unpaired {
        "The runs did not take turns, so their medians are compared: what drifted between them counts as a difference. \
         The interval is a bootstrap's"
    } else {
        "The ratio is the median of paired trials, with its exact interval"
    };
    format!(
        "Ratios are of {}. A difference counts from {}%{noise}, {}. {method}, {}% for a test alone.",
        rule.quantity.name(),
        shortest(rule.margin.relative() * 100.0),
        error(rule),
        shortest((1.0 - rule.alpha) * 100.0),
    )
}

fn error(rule: &Rule) -> String {
    let percent = shortest(rule.alpha * 100.0);
    match rule.correction {
        Correction::Holm => {
            format!("with a chance of at most {percent}% for any false alarm in all tests (Holm)")
        }
        Correction::FalseDiscovery => {
            format!("with at most {percent}% of the alarms false (Benjamini–Hochberg)")
        }
        Correction::None => format!("with a chance of at most {percent}% for a false alarm in each test"),
    }
}

/// As many decimals as it takes, and rounding errors away.
fn shortest(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}
