//! The tests of a comparison as a table.

use dyno_judge::{Comparison, Finding, TestComparison, Undecided};

use super::sentences;
use crate::document::{Column, Line, Shown, Table, Tint};
use crate::wording::number::{self, three_digits};
use crate::wording::words;

/// The index of the ratio's column.
const RATIO: usize = 3;

/// A table of the tests in their groups. The head line of each group shows the mean of the group's ratios.
pub(super) fn tests(comparison: &Comparison) -> Table {
    let figures = ["clients", "base", "candidate", "ratio", "rounds"].map(Column::of);
    let columns: Vec<Column> = figures.into_iter().chain([Column::of_words("verdict")]).collect();
    let mut lines = Vec::new();
    for group in comparison.tests.chunk_by(|a, b| a.group == b.group) {
        let name = &group[0].group;
        let mean = comparison.groups.iter().find(|mean| mean.group == *name).map(sentences::group);
        let mut cells = vec![Shown::default(); columns.len()];
        cells[RATIO] = Shown::plain(mean.unwrap_or_default());
        lines.push(Line::Group { name: name.clone(), cells });
        lines.extend(group.iter().map(line));
    }
    Table { head: "test".to_owned(), ..Table::of("", columns, lines) }
}

fn line(test: &TestComparison) -> Line {
    let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
    let figures = [
        test.clients.to_string(),
        value(test.base),
        value(test.candidate),
        sentences::ratio_of(test),
        sentences::rounds(test),
    ];
    let tint = match test.finding {
        Finding::Improved => Some(Tint::Better),
        Finding::Regressed | Finding::Failed | Finding::Decays => Some(Tint::Worse),
        _ => None,
    };
    let verdict = Shown { tint, ..Shown::plain(warned(test)) };
    Line::of(&test.step, figures.map(Shown::plain).into_iter().chain([verdict]).collect())
}

/// The verdict on a test, with the test's warnings.
fn warned(test: &TestComparison) -> String {
    let warnings = test.warnings.iter().filter(|warning| warning.is_of_one_test());
    let warnings = warnings.map(|warning| words::test_warning(warning, None));
    let is_reason = matches!(test.undecided, Some(Undecided::Disturbed(_)));
    let disturbed = test.disturbed.as_ref().filter(|_| !is_reason).map(words::disturbed);
    let mut says: Vec<String> =
        std::iter::once(sentences::verdict(test)).chain(disturbed).chain(warnings).collect();
    if says.len() == 1 && !is_quotient(test) {
        let units = sentences::units(test.replicates);
        says.push(format!("the ratio is that of the {units}, not of the two medians"));
    }
    says.join("; ")
}

fn is_quotient(test: &TestComparison) -> bool {
    let figures = test.base.zip(test.candidate).zip(test.ratio);
    figures.is_none_or(|((base, candidate), ratio)| number::is_quotient(base, candidate, ratio))
}
