//! The tests of a comparison as lines of a table, independent of the format.

use dyno_judge::{Comparison, Finding, TestComparison, Undecided};

use super::sentences;
use crate::sections::table::Tint;
use crate::wording::number::{self, three_digits};
use crate::wording::words;

pub(super) enum Line<'a> {
    /// The name of the group of the lines below, with its mean if it has one.
    Group {
        name: &'a str,
        mean: Option<String>,
    },
    Test(Cells<'a>),
}

/// A test as text.
pub(super) struct Cells<'a> {
    pub(super) step: &'a str,
    pub(super) clients: String,
    pub(super) base: String,
    pub(super) candidate: String,
    pub(super) ratio: String,
    pub(super) rounds: String,
    pub(super) verdict: String,
    pub(super) tint: Option<Tint>,
}

/// The tests under their groups.
pub(super) fn lines(comparison: &Comparison) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for group in comparison.tests.chunk_by(|a, b| a.group == b.group) {
        let name = &group[0].group;
        let mean = comparison.groups.iter().find(|mean| mean.group == *name).map(sentences::group);
        lines.push(Line::Group { name, mean });
        lines.extend(group.iter().map(|test| Line::Test(cells(test))));
    }
    lines
}

/// The verdict with its warnings.
fn warned(test: &TestComparison) -> String {
    let warnings = test.warnings.iter().filter(|warning| warning.is_of_one_test());
    let warnings = warnings.map(|warning| words::test_warning(warning, None));
    let is_reason = matches!(test.undecided, Some(Undecided::Disturbed(_)));
    let disturbed = test.disturbed.as_ref().filter(|_| !is_reason).map(words::disturbed);
    let mut says: Vec<String> =
        std::iter::once(sentences::verdict(test)).chain(disturbed).chain(warnings).collect();
    if says.len() == 1 && !is_quotient(test) {
        says.push("the ratio is that of the rounds, not of the two medians".to_owned());
    }
    says.join("; ")
}

fn is_quotient(test: &TestComparison) -> bool {
    let figures = test.base.zip(test.candidate).zip(test.ratio);
    figures.is_none_or(|((base, candidate), ratio)| number::is_quotient(base, candidate, ratio))
}

fn cells(test: &TestComparison) -> Cells<'_> {
    let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
    Cells {
        step: &test.step,
        clients: test.clients.to_string(),
        base: value(test.base),
        candidate: value(test.candidate),
        ratio: sentences::ratio_of(test),
        rounds: sentences::rounds(test),
        verdict: warned(test),
        tint: match test.finding {
            Finding::Improved => Some(Tint::Better),
            Finding::Regressed | Finding::Failed | Finding::Decays => Some(Tint::Worse),
            _ => None,
        },
    }
}
