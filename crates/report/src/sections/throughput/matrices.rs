//! The matrices of throughput, and the sizes on disk.

use crate::document::{Line, Section, Shown, Table};
use crate::model::Reports;
use crate::sections::cells::{group_table, relative_shown, table};
use crate::wording::number;
use crate::wording::phrases;

pub(crate) fn absolute(reports: &Reports) -> Section {
    let table = table(reports, &reports.absolute, |_, rate| {
        Shown::plain(number::three_digits(rate.operations_per_second))
    });
    Section {
        title: "Absolute: operations per second".to_owned(),
        paragraphs: vec!["Median of the rounds.".to_owned()],
        // Only this report shows the kinds of operations, because they are the same in the other reports.
        tables: vec![Table { shows_operations: true, ..table }],
        ..Section::default()
    }
}

pub(crate) fn relative(reports: &Reports) -> Section {
    let base = phrases::base_id(reports);
    let table = table(reports, &reports.relative, |_, relative| relative_shown(relative));
    let mut paragraphs = vec![format!(
        "Throughput as a multiple of {base}'s, {}; above 1 is faster.",
        phrases::ratio_kind(reports)
    )];
    paragraphs.extend(phrases::interval_note(reports));
    paragraphs.extend(phrases::marks_note(reports));
    Section {
        title: "Relative: throughput against the base".to_owned(),
        paragraphs,
        tables: vec![table],
        ..Section::default()
    }
}

/// The section on bytes on disk after each group of steps. `None` if they were not measured.
pub(in crate::sections) fn disk(reports: &Reports) -> Option<Section> {
    let cells = |bytes: &[Option<u64>]| {
        let text = |bytes: &Option<u64>| bytes.map_or_else(|| "–".to_owned(), number::bytes);
        bytes.iter().map(|bytes| Shown::plain(text(bytes))).collect()
    };
    let lines = reports.disk.iter().map(|row| Line::of(&row.group, cells(&row.bytes))).collect();
    let paragraphs = vec!["After the last trial of each group.".to_owned()];
    let tables = vec![group_table(reports, "", lines)];
    let section =
        Section { title: "Size: bytes on disk".to_owned(), paragraphs, tables, ..Section::default() };
    (!reports.disk.is_empty()).then_some(section)
}
