//! A comparison as `JUnit` XML, which continuous integration servers show test by test.
//!
//! The format is the one that Ant's `JUnit` task writes, limited to the part that Jenkins, GitLab and GitHub's
//! actions all support: <https://github.com/testmoapp/junitxml>. A test case without a verdict is an `error`, which
//! all three servers show in red. A `skipped` test case would look as if it had passed. Each message is written
//! twice: as an attribute, which Jenkins shows, and as content, which GitLab shows.

use dyno_judge::{Comparison, Finding, GateVote, Judgement, TestComparison};
use dyno_printable::printable;

use super::sentences;
use crate::wording::number::counted;

/// Writes the judgement as XML. The XML has a failure or an error unless the outcome is
/// [`NoneRegressed`](dyno_judge::GateOutcome::NoneRegressed).
pub fn render(judgement: &Judgement) -> String {
    let mut suites: Vec<Suite> = judgement.comparisons.iter().map(Suite::of).collect();
    if judgement.comparisons.iter().all(|comparison| comparison.is_control) {
        suites.push(Suite { name: "verdict".to_owned(), cases: vec![no_verdict("There is no candidate.")] });
    }
    let suites: String = suites.iter().map(Suite::xml).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dyno compare\">\n{suites}</testsuites>\n"
    )
}

/// The tests of a candidate.
struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    kind: Kind,
    says: String,
}

/// How this format represents a test.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Passed,
    Failure,
    Error,
    Skipped,
}

impl Suite {
    fn of(comparison: &Comparison) -> Self {
        let mut cases: Vec<Case> = comparison.tests.iter().map(|test| Case::of(comparison, test)).collect();
        if !comparison.is_control && cases.iter().all(|case| case.kind == Kind::Skipped) {
            cases.push(no_verdict(
                "No test can be judged, so it is not known whether the candidate is worse.",
            ));
        }
        Self { name: sentences::title(comparison), cases }
    }

    fn xml(&self) -> String {
        let count = |kind| self.cases.iter().filter(|case| case.kind == kind).count();
        let cases: String = self.cases.iter().map(Case::xml).collect();
        format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{cases}  </testsuite>\n",
            escape(&self.name),
            self.cases.len(),
            count(Kind::Failure),
            count(Kind::Error),
            count(Kind::Skipped),
        )
    }
}

/// Returns an error for a comparison or a gate in which no test is judged. Without this error, servers would show the
/// report as passed.
fn no_verdict(says: &str) -> Case {
    Case {
        class: "verdict".to_owned(),
        name: "at least one test is judged".to_owned(),
        kind: Kind::Error,
        says: says.to_owned(),
    }
}

impl Case {
    fn of(comparison: &Comparison, test: &TestComparison) -> Self {
        let advice = sentences::advice(test).map(|advice| format!(". {advice}")).unwrap_or_default();
        Self {
            class: test.group.clone(),
            name: format!("{} at {}", test.step, counted(u64::from(test.clients), "client")),
            kind: Kind::of(comparison, test),
            says: format!("{}: {}{advice}", sentences::verdict(test), sentences::ratio_of(test)),
        }
    }

    fn xml(&self) -> String {
        let says = escape(&self.says);
        let inside = match self.kind {
            Kind::Failure => format!("<failure message=\"{says}\">{says}</failure>"),
            Kind::Error => format!("<error message=\"{says}\">{says}</error>"),
            Kind::Skipped => format!("<skipped message=\"{says}\"/>"),
            Kind::Passed => format!("<system-out>{says}</system-out>"),
        };
        let (class, name) = (escape(&self.class), escape(&self.name));
        format!("    <testcase classname=\"{class}\" name=\"{name}\">{inside}</testcase>\n")
    }
}

impl Kind {
    /// Chooses how a test is represented, by the test's effect on the exit status. Controls have no effect on the exit
    /// status, so they are skipped.
    fn of(comparison: &Comparison, test: &TestComparison) -> Self {
        if comparison.is_control {
            return Self::Skipped;
        }
        match (test.finding, test.gate) {
            (Finding::Regressed | Finding::Decays, _) => Self::Failure,
            (Finding::Failed, _) | (_, GateVote::Worse | GateVote::Open) => Self::Error,
            (_, GateVote::Abstains) => Self::Skipped,
            (_, GateVote::NotWorse) => Self::Passed,
        }
    }
}

/// Escapes text for XML content or attributes. XML 1.0 allows only a few control characters (section 2.2), so
/// invisible characters are escaped as for a terminal.
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
