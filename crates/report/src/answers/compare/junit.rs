//! A comparison as `JUnit` XML, which continuous integration servers show test by test.
//!
//! The format is that of Ant's `JUnit` task, limited to the part that Jenkins, GitLab and GitHub's actions all support:
//! <https://github.com/testmoapp/junitxml>.

use dyno_judge::{Comparison, Finding, GateVote, Judgement, TestComparison};
use dyno_printable::printable;

use super::sentences;
use crate::wording::number::counted;

/// Writes the judgement as XML. A regressed test is a failure, and so is one in which the candidate decays. A failed
/// candidate is an error, and so is a test that cannot be judged although the base's own figures can. Other tests
/// without a verdict are skipped.
pub fn render(judgement: &Judgement) -> String {
    let suites: String = judgement.comparisons.iter().map(suite).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dyno compare\">\n{suites}</testsuites>\n"
    )
}

fn suite(comparison: &Comparison) -> String {
    let count = |kind| comparison.tests.iter().filter(|test| Kind::of(test) == kind).count();
    let cases: String = comparison.tests.iter().map(case).collect();
    format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{cases}  </testsuite>\n",
        escape(&sentences::title(comparison)),
        comparison.tests.len(),
        count(Kind::Failure),
        count(Kind::Error),
        count(Kind::Skipped),
    )
}

/// What a test is in this format.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Passed,
    Failure,
    Error,
    Skipped,
}

impl Kind {
    fn of(test: &TestComparison) -> Self {
        match test.finding {
            Finding::Regressed | Finding::Decays => Self::Failure,
            Finding::Failed => Self::Error,
            Finding::Unjudged if test.gate == GateVote::Open => Self::Error,
            Finding::NotEnoughEvidence | Finding::Unjudged => Self::Skipped,
            Finding::Improved | Finding::Same => Self::Passed,
        }
    }
}

fn case(test: &TestComparison) -> String {
    let advice = sentences::advice(test).map(|advice| format!(". {advice}")).unwrap_or_default();
    let says = format!("{}: {}{advice}", sentences::verdict(test), sentences::ratio_of(test));
    let message = escape(&says);
    let inside = match Kind::of(test) {
        Kind::Failure => format!("<failure message=\"{message}\"/>"),
        Kind::Error => format!("<error message=\"{message}\"/>"),
        Kind::Skipped => format!("<skipped message=\"{message}\"/>"),
        Kind::Passed => format!("<system-out>{message}</system-out>"),
    };
    let name = format!("{} at {}", test.step, counted(u64::from(test.clients), "client"));
    format!(
        "    <testcase classname=\"{}\" name=\"{}\">{inside}</testcase>\n",
        escape(&test.group),
        escape(&name)
    )
}

/// Escapes text for XML content or attributes. XML 1.0 allows few control characters and not all others (section 2.2); what
/// cannot be seen is written as for a terminal.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
