//! The summary for a terminal: findings, warnings, the comparison of each test, and next steps, in at most
//! [`LINES_MAX`] lines. [`crate::render`] writes the whole report.

pub(crate) mod rows;
#[cfg(test)]
mod tests;
mod warnings;

use unicode_width::UnicodeWidthStr;

use crate::RenderOptions;
use crate::chart::cut;
use crate::document::{Column, Line, Shown, Table};
use crate::format::text::Lines;
use crate::model::{Cell, Content, Rate, Relative, Reports};
use crate::sections::{cell_shown, claims, crashes, relative_shown};
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use rows::{Chosen, TestRow, by_candidate, choose, rows};

/// Largest number of lines of a summary.
const LINES_MAX: usize = 40;
/// Largest number of lines about the candidates.
const FOUND_MAX: usize = 8;
/// Largest number of lines about claims and crashes.
const ALSO_FOUND_MAX: usize = 4;
/// Largest number of lines of warnings.
const WARNINGS_MAX: usize = 6;
/// A summary shows at least this many tests, even if it then exceeds [`LINES_MAX`].
const TESTS_MIN: usize = 5;
/// Largest number of letters of the name of a test or system.
const NAME_LETTERS: usize = 40;

/// A step that a summary suggests to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// A command, or a file to open.
    pub what: String,
    pub does: String,
}

impl NextStep {
    pub fn new(what: impl Into<String>, does: impl Into<String>) -> Self {
        Self { what: what.into(), does: does.into() }
    }
}

/// Writes the summary of a run. `full` is the command that prints the whole report.
pub fn render_brief(reports: &Reports, full: &str, next: &[NextStep], options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    out.heading(&phrases::title(&reports.run));
    out.line("");
    out.text += &found(reports, full, options);
    out.text += &doubts(reports, full, options);
    let end = also(reports, options) + &render_next(next, options);
    let rest = height(&out.text) + height(&end);
    out.text += &comparisons(reports, full, LINES_MAX.saturating_sub(rest), options);
    out.text + &end
}

/// Writes the steps that are suggested to the user.
pub fn render_next(next: &[NextStep], options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    if !next.is_empty() {
        out.line("");
        out.heading("Next");
        let width = next.iter().map(|step| step.what.width()).max().unwrap_or(0) + 2;
        for NextStep { what, does } in next {
            out.line(&format!("  {what}{}{does}", " ".repeat(width - what.width())));
        }
    }
    out.text
}

/// Names the optional parts of the whole report that this run has; empty if it has only the usual parts.
fn also(reports: &Reports, options: &RenderOptions) -> String {
    let parts = [
        (!reports.ladders.is_empty(), "the price of each promise"),
        (!reports.capacities.is_empty(), "capacities"),
        (!reports.sensitivity.is_empty(), "what each setting does"),
        (!reports.replays.is_empty(), "statements of the traffic"),
        (!reports.joined.is_empty(), "joins"),
        (!reports.events.is_empty(), "events"),
        (!reports.lags.is_empty(), "replicas"),
        (!reports.repeated.is_empty(), "before and after"),
        (!reports.counters.is_empty(), "counters"),
        (!reports.query_plans.is_empty(), "plans of queries"),
        (!reports.stacks.is_empty(), "stacks"),
        (!reports.frontiers.is_empty(), "prices"),
        (reports.hosts.is_some(), "hosts"),
        (!reports.drivers.is_empty(), "drivers"),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|(has, _)| *has).map(|(_, part)| part).collect();
    let mut out = Lines::new(options);
    if !parts.is_empty() {
        out.line("");
        out.paragraph(&format!("The whole report also has: {}.", parts.join(", ")));
    }
    out.text
}

fn height(text: &str) -> usize {
    text.matches('\n').count()
}

/// Findings on each candidate, on crashes and on claims. If the findings on the candidates are too long, shortens the
/// findings on each candidate to their first sentence.
fn found(reports: &Reports, full: &str, options: &RenderOptions) -> String {
    let first = |paragraph: &String| match paragraph.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => paragraph.clone(),
    };
    let paragraph = |text: &String| {
        let mut out = Lines::new(options);
        out.paragraph(text);
        out.text
    };
    let mut all: Vec<String> = reports.summary.iter().map(paragraph).collect();
    if all.iter().map(|text| height(text)).sum::<usize>() > FOUND_MAX {
        all = reports.summary.iter().map(first).map(|text| paragraph(&text)).collect();
    }
    let (mut text, left) = fitting(all, FOUND_MAX);
    if left > 0 {
        text += &paragraph(&format!("{}: {full}", counted(left as u64, "more system")));
    }
    let claims = (!reports.claims.is_empty()).then(|| claims::summary(&reports.claims));
    let crashes = reports.crash_tests.iter().map(crashes::sentence);
    let (more, left) =
        fitting(claims.into_iter().chain(crashes).map(|it| paragraph(&it)).collect(), ALSO_FOUND_MAX);
    text += &more;
    if left > 0 {
        text += &paragraph(&format!("{}: {full}", counted(left as u64, "more crash test")));
    }
    text
}

/// The warnings; empty if there are none.
fn doubts(reports: &Reports, full: &str, options: &RenderOptions) -> String {
    let lines = warnings::lines(reports);
    let mut out = Lines::new(options);
    if lines.is_empty() {
        return out.text;
    }
    out.line("");
    out.heading("Warnings");
    let item = |text: &String| {
        let mut out = Lines::new(options);
        out.labelled("-", 2, &cut(text, (2 * options.width).saturating_sub(8).max(NAME_LETTERS)));
        out.text
    };
    let (text, left) = fitting(lines.iter().map(item).collect(), WARNINGS_MAX);
    out.text += &text;
    if left > 0 {
        out.line(&format!("- {left} more: {full}"));
    }
    out.text
}

/// Joins as many of the first texts as fit into `lines_max` lines, but at least one. Also returns the number of texts
/// that are left out.
fn fitting(texts: Vec<String>, lines_max: usize) -> (String, usize) {
    let (mut joined, mut left) = (String::new(), 0);
    for text in texts {
        if left == 0 && (joined.is_empty() || height(&joined) + height(&text) <= lines_max) {
            joined += &text;
        } else {
            left += 1;
        }
    }
    (joined, left)
}

/// A table of each candidate's ratio in each test. If not all tests fit, the table has the tests with the largest
/// differences.
fn comparisons(reports: &Reports, full: &str, room: usize, options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    let all = rows(reports);
    if all.is_empty() {
        return out.text;
    }
    out.line("");
    let base = phrases::base_id(reports);
    let clients = match reports.client_counts[..] {
        [clients] => format!(", at {}", counted(u64::from(clients), "client")),
        _ => String::new(),
    };
    let has_candidates = all.iter().any(|row| !row.candidates.is_empty());
    out.heading(&if has_candidates {
        format!("Throughput as a multiple of {base}'s{clients}")
    } else {
        format!("Throughput{clients}")
    });
    let notes = [phrases::interval_note(reports), phrases::marks_note(reports)];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    if !notes.is_empty() {
        out.paragraph(&notes.join(" "));
    }
    // Two lines are reserved: one for the head of the table, one for the number of tests that are left out.
    let count = room.saturating_sub(height(&out.text) + 2).max(TESTS_MIN);
    let wide = choose(all.clone(), count);
    let table = side_by_side(reports, &wide.shown).printable();
    let (chosen, table) = if table.split(options.width).len() > 1 {
        let long = choose(by_candidate(all), count);
        let table = one_a_line(reports, &long.shown).printable();
        (long, table)
    } else {
        (wide, table)
    };
    out.table(&table);
    if let Some(left) = left_out(&chosen, full) {
        out.line(&left);
    }
    out.text
}

/// `  31 more, 12 of them not decided: dyno report 3 --full`.
fn left_out(chosen: &Chosen<'_>, full: &str) -> Option<String> {
    let undecided = chosen.left.iter().filter(|row| row.is_undecided()).count();
    let undecided = match undecided {
        0 => String::new(),
        1 => ", 1 of them not decided".to_owned(),
        some => format!(", {some} of them not decided"),
    };
    (!chosen.left.is_empty()).then(|| format!("  {} more{undecided}: {full}", chosen.left.len()))
}

/// A table with a column for each candidate.
fn side_by_side(reports: &Reports, rows: &[TestRow<'_>]) -> Table {
    let candidates: Vec<&str> =
        reports.systems.iter().filter(|system| !system.is_base).map(|system| system.id.as_str()).collect();
    let line = |row: &TestRow<'_>| {
        let of = |id: &&str| row.candidates.iter().find(|cell| cell.system == **id);
        let cells = candidates.iter().map(|id| of(id).map_or_else(Shown::default, |cell| ratio(cell)));
        Line::of(name(reports, row), std::iter::once(rate(row.base)).chain(cells).collect())
    };
    table(reports, candidates.iter().map(|id| cut(id, NAME_LETTERS)), rows.iter().map(line).collect())
}

/// A table with a line for each comparison.
fn one_a_line(reports: &Reports, rows: &[TestRow<'_>]) -> Table {
    let line = |row: &TestRow<'_>| {
        let cell = row.candidates.first();
        let system = cell.map_or_else(String::new, |cell| format!(" · {}", cut(&cell.system, NAME_LETTERS)));
        let cells = vec![rate(row.base), cell.map_or_else(Shown::default, |cell| ratio(cell))];
        Line::of(name(reports, row) + &system, cells)
    };
    table(reports, std::iter::once("multiple".to_owned()), rows.iter().map(line).collect())
}

fn table(reports: &Reports, heads: impl Iterator<Item = String>, lines: Vec<Line>) -> Table {
    let base = cut(phrases::base_id(reports), NAME_LETTERS);
    Table::of("", std::iter::once(base).chain(heads).map(Column::of).collect(), lines)
}

fn name(reports: &Reports, row: &TestRow<'_>) -> String {
    let step = cut(row.step, NAME_LETTERS);
    if reports.client_counts.len() > 1 {
        format!("{step} at {}", counted(u64::from(row.clients), "client"))
    } else {
        step
    }
}

/// The base's operations per second: `12,300/s`.
fn rate(cell: Option<&Cell<Rate>>) -> Shown {
    let rate = |rate: &Rate| Shown::plain(format!("{}/s", number::three_digits(rate.operations_per_second)));
    cell.map_or_else(Shown::default, |cell| cell_shown(cell, |_, value| rate(value)))
}

fn ratio(cell: &Cell<Relative>) -> Shown {
    let shown = cell_shown(cell, |_, relative| relative_shown(relative));
    if matches!(cell.content, Content::Missing) { Shown::plain("–") } else { shown }
}
