//! Both sides' samples of one measurement, and what is made of them.

use crate::child::Sample;

/// Samples that were taken in turn.
#[derive(Debug, Default)]
pub(crate) struct Pair {
    pub(crate) theirs: Vec<Sample>,
    pub(crate) ours: Vec<Sample>,
}

impl Pair {
    /// Takes so many samples of each side in turn. `what` is measured, for people who wait.
    pub(crate) fn measure(
        what: &str,
        rounds: usize,
        mut theirs: impl FnMut() -> anyhow::Result<Sample>,
        mut ours: impl FnMut() -> anyhow::Result<Sample>,
    ) -> anyhow::Result<Self> {
        let mut pair = Self::default();
        for round in 1..=rounds {
            eprintln!("{what}, round {round} of {rounds}");
            pair.theirs.push(theirs()?);
            pair.ours.push(ours()?);
        }
        Ok(pair)
    }

    /// The median of a number on both sides: theirs, ours.
    pub(crate) fn medians(&self, of: impl Fn(&Sample) -> f64) -> (f64, f64) {
        let median = |samples: &[Sample]| {
            dyno_stats::median(&samples.iter().map(&of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        (median(&self.theirs), median(&self.ours))
    }
}

/// Appends both medians with so many digits to a row of a table, and their ratio if it is wanted.
pub(crate) fn push_cells(cells: &mut Vec<String>, (theirs, ours): (f64, f64), digits: usize, ratio: bool) {
    cells.push(format!("{theirs:.digits$}"));
    cells.push(format!("{ours:.digits$}"));
    if ratio {
        cells.push(format!("{:.2}", ours / theirs));
    }
}

/// An empty table as Markdown with these headings.
pub(crate) fn table(headings: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(headings);
    table
}

/// Aligns the columns from `first` on to the right and prints the table under its title.
pub(crate) fn print(title: &str, mut table: comfy_table::Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    println!("{title}\n{table}");
}
