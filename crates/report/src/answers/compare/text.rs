//! A comparison for a terminal.

use dyno_judge::{Comparison, Judgement};
use dyno_printable::printable;
use unicode_width::UnicodeWidthStr;

use super::lines::{Line, lines};
use super::sentences;
use crate::RenderOptions;
use crate::format::text::Lines;
use crate::sections::table::{COLUMN_GAP, TEST_INDENT};
use crate::wording::in_force;

/// Writes the judgement as text.
pub(super) fn render(judgement: &Judgement, options: &RenderOptions) -> String {
    let mut out = Lines::new(options);
    out.heading(&sentences::outcome(judgement));
    for comparison in &judgement.comparisons {
        out.line("");
        section(comparison, &mut out);
    }
    out.line("");
    out.paragraph(&sentences::how_to_read(judgement));
    out.text
}

fn section(comparison: &Comparison, out: &mut Lines<'_>) {
    out.heading(&sentences::title(comparison));
    for (label, side) in [("base", &comparison.base), ("candidate", &comparison.candidate)] {
        out.labelled(label, "candidate  ".len(), &sentences::side(side));
    }
    for sentence in in_force::of_comparison(comparison) {
        out.paragraph(&sentence);
    }
    for difference in &comparison.differences {
        out.paragraph(&format!("Differs: {difference}."));
    }
    if let Some(anchor) = &comparison.anchor {
        out.paragraph(&sentences::anchor(anchor));
    }
    out.paragraph(&sentences::summary(comparison));
    out.line("");
    table(comparison, out);
}

const HEADS: [&str; 7] = ["test", "clients", "base", "candidate", "ratio", "rounds", "verdict"];

fn table(comparison: &Comparison, out: &mut Lines<'_>) {
    let lines = lines(comparison);
    let rows: Vec<[String; 7]> =
        lines.iter().map(|line| row(line).map(|cell| printable(&cell).into_owned())).collect();
    let mut widths = HEADS.map(UnicodeWidthStr::width);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    out.line(&line(&HEADS.map(str::to_owned), &widths));
    for (row, line_of) in rows.iter().zip(&lines) {
        let tint = match line_of {
            Line::Test(cells) => cells.tint,
            Line::Group { .. } => None,
        };
        out.tinted_line(&line(row, &widths), tint);
    }
}

fn row(line: &Line<'_>) -> [String; 7] {
    match line {
        Line::Group { name, mean } => {
            let mut row = [const { String::new() }; 7];
            (*name).clone_into(&mut row[0]);
            row[4] = mean.clone().unwrap_or_default();
            row
        }
        Line::Test(cells) => [
            format!("{}{}", " ".repeat(TEST_INDENT), cells.step),
            cells.clients.clone(),
            cells.base.clone(),
            cells.candidate.clone(),
            cells.ratio.clone(),
            cells.rounds.clone(),
            cells.verdict.clone(),
        ],
    }
}

/// Aligns names and words to the left, and numbers to the right.
fn line(row: &[String; 7], widths: &[usize; 7]) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let gap = " ".repeat(if at == 0 { 0 } else { COLUMN_GAP });
        let fill = " ".repeat(width - cell.width());
        let is_word = at == 0 || at == 6;
        let (before, after) = if is_word { ("", fill.as_str()) } else { (fill.as_str(), "") };
        text.push_str(&[&gap, before, cell, after].concat());
    }
    text.trim_end().to_owned()
}
