//! Formats runs as text, in the same way for all subcommands.

use comfy_table::{CellAlignment, Table, presets};
use dyno_printable::printable;
use dyno_store::{RunSummary, utc_text};
use indicatif::HumanBytes;

/// A timestamp of the results file, in UTC with a precision of one second.
pub(in crate::commands) fn moment(ms: i64) -> String {
    utc_text(ms).replace('T', " ").replace('Z', " UTC")
}

/// Bytes with a readable unit.
pub(in crate::commands) fn bytes(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

/// Formats counts: `12 trials`, `12 trials, 1 failed`.
pub(super) fn trials(run: &RunSummary) -> String {
    let all = run.completed_trials + run.failed_trials;
    let plural = if all == 1 { "" } else { "s" };
    match run.failed_trials {
        0 => format!("{all} trial{plural}"),
        failed => format!("{all} trial{plural}, {failed} failed"),
    }
}

/// Formats a run on one line: `run 3 (first-look, 2026-01-31 12:00:00 UTC, 12 trials)`.
pub(super) fn run(run: &RunSummary) -> String {
    format!("run {} ({}, {}, {})", run.id, printable(&run.plan_name), moment(run.started_at_ms), trials(run))
}

/// A table without lines between its cells. Each row is one line of text. `right` has the indices of right-aligned
/// columns.
pub(in crate::commands) fn table(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    right: &[usize],
) -> String {
    let rows = rows
        .into_iter()
        .map(|row| row.into_iter().map(|cell| printable(&cell).into_owned()).collect::<Vec<_>>());
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
