//! The reports as sections of tables, for the formats for people.

use crate::model::Reports;
use crate::model::why;
use crate::sections::capacity_tables;
use crate::sections::check_tables;
use crate::sections::cost_tables;
use crate::sections::counter_tables;
use crate::sections::crash_tables;
use crate::sections::driver_tables;
use crate::sections::frontier;
use crate::sections::host_tables;
use crate::sections::joined_tables;
use crate::sections::ladder_tables;
use crate::sections::left_out;
use crate::sections::query_plans;
use crate::sections::repeated_tables;
use crate::sections::scaling_tables;
use crate::sections::section::{Section, group_table, relative_shown, table};
use crate::sections::stack_tables;
use crate::sections::steady_state;
use crate::sections::sweep_tables;
use crate::sections::table::{Line, Shown, Table};
use crate::wording::number;
use crate::wording::phrases;
use crate::wording::undecided;

/// The reports in order.
pub(crate) fn sections(reports: &Reports) -> Vec<Section> {
    let mut sections: Vec<Section> = ladder_tables::section(reports).into_iter().collect();
    sections.extend([absolute(reports), relative(reports), cost_tables::section(reports)]);
    sections.extend(why::section(&reports.why));
    sections.extend(capacity_tables::section(reports));
    sections.extend(sweep_tables::configurations(reports));
    sections.extend(sweep_tables::sensitivity(reports));
    sections.extend(joined_tables::section(reports));
    sections.extend(counter_tables::section(reports));
    sections.extend(query_plans::section(reports));
    sections.extend(scaling_tables::section(reports));
    sections.extend(frontier::section(reports));
    sections.extend(left_out::section(&left_out::shown(reports)));
    sections.extend(repeated_tables::section(reports));
    sections.extend(stack_tables::section(reports));
    sections.extend(disk(reports));
    sections.extend(crash_tables::section(reports));
    sections.extend(host_tables::section(reports));
    sections.extend(driver_tables::section(reports));
    sections.extend(undecided::section(reports));
    sections.extend(steady_state::section(reports));
    sections.extend(check_tables::variation(reports));
    sections.extend(check_tables::trial_warnings(reports));
    sections
}

fn absolute(reports: &Reports) -> Section {
    let table = table(reports, &reports.absolute, |_, rate| {
        Shown::plain(number::three_digits(rate.operations_per_second))
    });
    Section {
        title: "Absolute: operations per second",
        how_to_read: vec!["Median of the rounds.".to_owned()],
        // Only the first report shows the operations, because they are the same in the others.
        tables: vec![Table { shows_operations: true, ..table }],
        ..Section::default()
    }
}

fn relative(reports: &Reports) -> Section {
    let base = phrases::base_id(reports);
    let table = table(reports, &reports.relative, |_, relative| relative_shown(relative));
    let mut how_to_read = vec![format!(
        "Throughput as a multiple of {base}'s, {}; above 1 is faster.",
        phrases::ratio_kind(reports)
    )];
    how_to_read.extend(phrases::interval_note(reports));
    how_to_read.extend(phrases::marks_note(reports));
    Section {
        title: "Relative: throughput against the base",
        how_to_read,
        tables: vec![table],
        ..Section::default()
    }
}

/// Bytes after each group; none if they were not measured.
fn disk(reports: &Reports) -> Option<Section> {
    let cells = |bytes: &[Option<u64>]| {
        let text = |bytes: &Option<u64>| bytes.map_or_else(|| "–".to_owned(), number::bytes);
        bytes.iter().map(|bytes| Shown::plain(text(bytes))).collect()
    };
    let lines: Vec<Line> = reports
        .disk
        .iter()
        .map(|row| Line::Test { name: row.group.clone(), operation: String::new(), cells: cells(&row.bytes) })
        .collect();
    let how_to_read = vec!["After the last trial of each group.".to_owned()];
    let tables = vec![group_table(reports, "", lines)];
    let section = Section { title: "Size: bytes on disk", how_to_read, tables, ..Section::default() };
    (!reports.disk.is_empty()).then_some(section)
}
