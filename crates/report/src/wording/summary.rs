//! Sentences on the findings. A system is called faster or slower only if the verdict says so.

use dyno_judge::{Comparison, Finding, Method, Rule, TestComparison};
use dyno_stats::median;

use crate::wording::in_force;
use crate::wording::number::{counted, margin, ratio};
use crate::wording::words::{self, ratio_in};

/// If more tests than this are undecided, the summary names none of them.
const UNDECIDED_FEW: usize = 3;

/// A paragraph about a candidate.
pub(crate) fn summary(comparison: &Comparison, rule: &Rule) -> String {
    let (candidate, base) = (&comparison.candidate.system, &comparison.base.system);
    if comparison.tests.iter().all(|test| test.ratio.is_none() && test.finding != Finding::Failed) {
        let why = comparison
            .disturbed()
            .map_or_else(|| not_compared(comparison), |disturbed| words::disturbed_tests(&disturbed));
        return format!("{candidate} cannot be compared with {base}: {why}.");
    }
    if comparison.same_for.is_some() {
        return same(comparison);
    }
    if comparison.is_control {
        return noise(comparison);
    }
    let mut sentences = vec![verdicts(comparison, &margin(rule))];
    if let Some(disturbed) = comparison.disturbed() {
        sentences.push(format!("Not decided because of neighbours: {}.", words::disturbed_tests(&disturbed)));
    }
    sentences.extend(overall(comparison));
    sentences.extend(extremes(comparison));
    sentences.extend(biggest_undecided(comparison));
    let decays = comparison.count(Finding::Decays);
    if decays > 0 {
        let tests = counted(decays as u64, "test");
        sentences.push(format!("Its rate falls over a trial in {tests} in which the base's has a level."));
    }
    let failed = comparison.count(Finding::Failed);
    if failed > 0 {
        sentences.push(format!("It failed in {}.", counted(failed as u64, "test")));
    }
    sentences.join(" ")
}

/// Why no test has a ratio, for all reasons except disturbed rounds.
fn not_compared(comparison: &Comparison) -> String {
    let has_rounds = |test: &TestComparison| test.base_rounds > 0 && test.candidate_rounds > 0;
    let why = comparison.tests.iter().find(|test| has_rounds(test)).and_then(|test| test.undecided.as_ref());
    why.map_or_else(|| "no test has rounds of both".to_owned(), words::undecided)
}

/// A sentence on two systems that are the same.
fn same(comparison: &Comparison) -> String {
    format!(
        "{} is the same system as {}, since the settings that should differ are not in force: {}. Their differences are noise.",
        comparison.candidate.system,
        comparison.base.system,
        in_force::list(comparison.same_for.as_deref().unwrap_or_default())
    )
}

/// A sentence on a control, which says by how much two measurements of one system differ.
fn noise(comparison: &Comparison) -> String {
    let apart = |ratio: f64| 100.0 * (ratio.max(1.0 / ratio) - 1.0);
    let ratios = comparison.tests.iter().filter_map(|test| test.ratio);
    let differences: Vec<f64> = ratios.map(apart).collect();
    let widest = differences.iter().copied().fold(0.0, f64::max);
    let middle = median(&differences).unwrap_or(0.0);
    format!(
        "{} is {} measured a second time: the two differ by {middle:.1}% in the middle of {} and by {widest:.1}% at the \
         most, which is noise.",
        comparison.candidate.system,
        comparison.base.system,
        counted(differences.len() as u64, "test")
    )
}

/// The numbers of verdicts: `b is faster than a in 7 of 12 tests and slower in 3; 1 is the same within 2%; 1 is not
/// decided.`
fn verdicts(comparison: &Comparison, margin: &str) -> String {
    let count = |finding| comparison.count(finding);
    let (candidate, base) = (&comparison.candidate.system, &comparison.base.system);
    let (faster, slower, same) = (count(Finding::Improved), count(Finding::Regressed), count(Finding::Same));
    let open = count(Finding::NotEnoughEvidence);
    let unjudged = count(Finding::Unjudged) + count(Finding::Decays);
    let all = comparison.tests.len() - unjudged;
    let tests = counted(all as u64, "test");
    let mut parts = Vec::new();
    let is = |count: usize, rest: &str| format!("{count} {} {rest}", if count == 1 { "is" } else { "are" });
    let same_within = format!("the same within {margin}");
    let mut rest = vec![(open, "not decided")];
    match (faster, slower, same) {
        (0, 0, 0) if open > 0 => {
            parts.push(format!("{candidate} against {base}: none of {tests} is decided"));
            rest.clear();
        }
        (0, 0, 0) => parts.push(format!("{candidate} against {base}: no test is judged")),
        (0, 0, _) => parts.push(format!("{candidate} is {same_within} as {base} in {same} of {tests}")),
        _ => {
            parts.push(match (faster, slower) {
                (0, _) => format!("{candidate} is slower than {base} in {slower} of {tests}"),
                (_, 0) => format!("{candidate} is faster than {base} in {faster} of {tests}"),
                _ => {
                    format!("{candidate} is faster than {base} in {faster} of {tests} and slower in {slower}")
                }
            });
            rest.insert(0, (same, &same_within));
        }
    }
    rest.push((unjudged, "not judged"));
    parts.extend(rest.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| is(count, what)));
    format!("{}.", parts.join("; "))
}

/// A sentence on the mean ratio over all tests.
fn overall(comparison: &Comparison) -> Option<String> {
    let mean = comparison.overall.as_ref().filter(|mean| mean.tests > 1)?;
    let rounds = match (mean.rounds, mean.method) {
        (1, _) => "1 round: this pair of servers only".to_owned(),
        (rounds, Method::StudentT) => format!("t interval of {}", counted(rounds as u64, "round")),
        (rounds, _) => counted(rounds as u64, "round"),
    };
    Some(format!(
        "Over all tests it gives {} times the throughput (geometric mean, {rounds}).",
        ratio_in(mean.ratio, mean.interval)
    ))
}

/// A sentence on the largest and the smallest ratio among tests with a verdict of faster or slower.
fn extremes(comparison: &Comparison) -> Option<String> {
    let named = |finding| {
        let test = furthest(comparison, finding)?;
        Some(format!("{}, {} times", place(test), ratio(test.ratio?)))
    };
    match (named(Finding::Improved), named(Finding::Regressed)) {
        (Some(win), Some(loss)) => Some(format!("Biggest win: {win}; biggest loss: {loss}.")),
        (Some(win), None) => Some(format!("Biggest win: {win}.")),
        (None, Some(loss)) => Some(format!("Biggest loss: {loss}.")),
        (None, None) => None,
    }
}

/// A sentence on the undecided test whose ratio is furthest from 1. `None` if more than [`UNDECIDED_FEW`] are
/// undecided.
fn biggest_undecided(comparison: &Comparison) -> Option<String> {
    let open = comparison.count(Finding::NotEnoughEvidence);
    let test = furthest(comparison, Finding::NotEnoughEvidence).filter(|_| open <= UNDECIDED_FEW)?;
    let which = if open == 1 { "Not decided" } else { "Largest undecided difference" };
    Some(format!("{which}: {}, {} times.", place(test), ratio_in(test.ratio?, test.interval)))
}

fn furthest(comparison: &Comparison, finding: Finding) -> Option<&TestComparison> {
    let far = |test: &TestComparison| test.ratio.map(|ratio| ratio.ln().abs());
    let tests = comparison.tests.iter().filter(|test| test.finding == finding);
    tests
        .filter(|test| test.ratio.is_some())
        .reduce(|best, next| if far(next) > far(best) { next } else { best })
}

fn place(test: &TestComparison) -> String {
    format!("{} at {}", test.step, counted(u64::from(test.clients), "client"))
}

#[cfg(test)]
mod tests;
