//! Samples of the two sides of a comparison, which are Dyno and another tool, with their medians and ratios.

use dyno_engine::Server;

use crate::support::child::Sample;

/// The samples of a measurement. Each round adds one sample of the other tool (`theirs`) and one of Dyno (`ours`).
#[derive(Debug, Default)]
pub(crate) struct Pair {
    theirs: Vec<Sample>,
    ours: Vec<Sample>,
    /// The samples of an older Dyno; empty if there is none.
    before: Vec<Sample>,
}

/// A function that takes a sample of one of the compared programs.
pub(crate) type Take<'a> = &'a dyn Fn() -> anyhow::Result<Sample>;

/// The ratios of Dyno to the other tool over the rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratios {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Pair {
    /// Takes a sample of the other tool and one of Dyno. Which of them is first alternates from round to round.
    pub(crate) fn take(
        &mut self,
        theirs: impl Fn() -> anyhow::Result<Sample>,
        ours: impl Fn() -> anyhow::Result<Sample>,
    ) -> anyhow::Result<()> {
        self.take_each(Some(&theirs), None, &ours)
    }

    /// As [`take`](Self::take), but also with an older Dyno, and possibly without the other tool.
    pub(crate) fn take_each(
        &mut self,
        theirs: Option<Take<'_>>,
        before: Option<Take<'_>>,
        ours: Take<'_>,
    ) -> anyhow::Result<()> {
        let is_reversed = !self.ours.len().is_multiple_of(2);
        let mut sides =
            [(theirs, &mut self.theirs), (before, &mut self.before), (Some(ours), &mut self.ours)];
        if is_reversed {
            sides.reverse();
        }
        for (take, samples) in sides {
            if let Some(take) = take {
                samples.push(take()?);
            }
        }
        Ok(())
    }

    /// Returns the median of a figure for the other tool, and for Dyno.
    pub(crate) fn medians(&self, of: impl Fn(&Sample) -> f64) -> (f64, f64) {
        let median_of = |samples: &[Sample]| median(&samples.iter().map(&of).collect::<Vec<_>>());
        (median_of(&self.theirs), median_of(&self.ours))
    }

    /// Returns the ratio of Dyno's figure to the other tool's, for each round.
    pub(crate) fn each_ratio(&self, of: impl Fn(&Sample) -> f64) -> Vec<f64> {
        self.theirs.iter().zip(&self.ours).map(|(theirs, ours)| of(ours) / of(theirs)).collect()
    }

    /// Summarises the ratios of a figure. Each ratio is of two samples from the same server.
    pub(crate) fn ratios(&self, of: impl Fn(&Sample) -> f64) -> Ratios {
        let ratios = self.each_ratio(of);
        Ratios {
            median: median(&ratios),
            min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            max: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Appends the medians of all existing sides to a row of a table, rounded to `digits` digits. Then appends the
    /// median ratios of Dyno to the other tool and to the older Dyno.
    pub(crate) fn push_all_cells(&self, cells: &mut Vec<String>, of: fn(&Sample) -> f64, digits: usize) {
        let sides =
            [&self.theirs, &self.before, &self.ours].into_iter().filter(|samples| !samples.is_empty());
        cells.extend(sides.map(|samples| {
            let median = median(&samples.iter().map(of).collect::<Vec<_>>());
            format!("{median:.digits$}")
        }));
        let others = [&self.theirs, &self.before].into_iter().filter(|samples| !samples.is_empty());
        cells.extend(others.map(|others| {
            let ratios = others.iter().zip(&self.ours).map(|(other, ours)| of(ours) / of(other));
            format!("{:.2}", median(&ratios.collect::<Vec<_>>()))
        }));
    }

    /// Appends the other tool's median and Dyno's to a row of a table, rounded to `digits` digits. Also appends the
    /// median of their ratios if `ratio` is set.
    pub(crate) fn push_cells(
        &self,
        cells: &mut Vec<String>,
        of: fn(&Sample) -> f64,
        digits: usize,
        ratio: bool,
    ) {
        let (theirs, ours) = self.medians(of);
        cells.push(format!("{theirs:.digits$}"));
        cells.push(format!("{ours:.digits$}"));
        if ratio {
            cells.push(format!("{:.2}", self.ratios(of).median));
        }
    }
}

/// Measures `rounds` rounds of each case. A server's speed depends on where its memory and threads were placed, and
/// they stay there while the server runs. Therefore every round uses a new server. Also returns the servers' version.
pub(crate) fn on_new_servers<Case>(
    rounds: usize,
    cases: &[Case],
    start: impl Fn() -> anyhow::Result<Server>,
    take: impl Fn(&Server, &Case, &mut Pair) -> anyhow::Result<()>,
) -> anyhow::Result<(Vec<Pair>, String)> {
    let mut pairs: Vec<Pair> = cases.iter().map(|_| Pair::default()).collect();
    let mut version = String::new();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        let server = start()?;
        for (case, pair) in cases.iter().zip(&mut pairs) {
            take(&server, case, pair)?;
        }
        server.version().clone_into(&mut version);
        server.stop()?;
    }
    Ok((pairs, version))
}

fn median(numbers: &[f64]) -> f64 {
    dyno_stats::median(numbers).unwrap_or(f64::NAN)
}

/// Makes an empty Markdown table with these headings.
pub(crate) fn table(headings: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(headings);
    table
}

/// Prints a table under its title. The columns from `first` on are aligned to the right.
pub(crate) fn print(title: &str, mut table: comfy_table::Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    println!("{title}\n{table}");
}
