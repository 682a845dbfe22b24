//! The matrices of throughput, of ratios and of costs as texts and tints, with each system as the base.

use dyno_judge::Finding;
use serde::Serialize;
use serde_json::Value;

use crate::html::drill_down::notes::Notes;
use crate::html::drill_down::series::number as digits;
use crate::html::parts::verdicts::forest;
use crate::model::{Cell, Content, Cost, Matrix, Relative, Reports};
use crate::wording::number;
use crate::wording::phrases;
use crate::wording::words;

/// Largest strength of a tint.
pub(crate) const STRENGTH_MAX: i8 = 5;

/// The content of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The number, or the reason why it is missing.
    pub(crate) main: String,
    /// Small text next to the number: an interval, or a multiple.
    pub(crate) side: String,
    /// Mark of a finding that has no background colour. For a cost, the mark of a ratio that is not the quotient of the
    /// two medians.
    pub(crate) mark: &'static str,
    /// Tint, from −5 (much worse) to 5 (much better). 0 unless the verdict is faster or slower.
    pub(crate) tint: i8,
    /// Whether a warning concerns the cell.
    pub(crate) is_suspect: bool,
}

impl View {
    /// All small text beside the number: `side`, the mark and a warning sign.
    pub(crate) fn beside(&self) -> String {
        let warning = if self.is_suspect { "⚠" } else { "" };
        let parts = [self.side.as_str(), self.mark, warning].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// The cells of a matrix in row order, in the script's format.
#[derive(Debug, Serialize)]
pub(crate) struct Views {
    main: Vec<String>,
    side: Vec<String>,
    tint: Vec<i8>,
}

impl Views {
    fn of(cells: Vec<Vec<View>>) -> Self {
        let mut views = Self { main: Vec::new(), side: Vec::new(), tint: Vec::new() };
        for view in cells.into_iter().flatten() {
            views.side.push(view.beside());
            views.main.push(view.main);
            views.tint.push(view.tint);
        }
        views
    }
}

/// The interval of each ratio and the ratios of its rounds, in row order, for drill-downs.
#[derive(Debug, Serialize)]
struct Rounds {
    ratios: Vec<Vec<(u32, Value)>>,
    /// The lower and the upper end of each ratio's interval.
    interval: Vec<Option<[Value; 2]>>,
}

impl Rounds {
    fn of(reports: &Reports) -> Self {
        let cells = || reports.relative.rows.iter().flat_map(|row| &row.cells).map(Cell::value);
        let ratios = |relative: &Relative| {
            relative.rounds.iter().map(|it| (it.round, digits(Some(it.ratio), 4))).collect()
        };
        let ends = |relative: &Relative| {
            let interval = relative.interval?;
            Some([interval.low, interval.high].map(|end| digits(Some(end), 4)))
        };
        Self {
            ratios: cells().map(|relative| relative.map_or_else(Vec::new, ratios)).collect(),
            interval: cells().map(|relative| relative.and_then(ends)).collect(),
        }
    }
}

/// The parts of the page that depend on the base.
#[derive(Debug, Serialize)]
pub(crate) struct BaseViews {
    absolute: Views,
    relative: Views,
    /// The views of each cost that has a table, in the order of the tables.
    costs: Vec<Views>,
    rounds: Rounds,
    notes: Notes,
    /// The lines of the plot of all tests, as HTML.
    forest: String,
}

impl BaseViews {
    /// Makes the parts of the page that compare systems with the base of these reports.
    pub(crate) fn of(reports: &Reports, costs: &[Cost]) -> Self {
        Self {
            absolute: Views::of(absolute(reports)),
            relative: Views::of(relative(reports)),
            costs: costs.iter().map(|cost| Views::of(self::cost(reports, *cost))).collect(),
            rounds: Rounds::of(reports),
            notes: Notes::of(reports),
            forest: crate::html::shell::text(&forest::lines(reports)),
        }
    }
}

/// Throughput, tinted by its ratio to the base's throughput.
pub(crate) fn absolute(reports: &Reports) -> Vec<Vec<View>> {
    let mut rows = matrix(reports, &reports.absolute, |_, rate| View {
        main: number::three_digits(rate.operations_per_second),
        is_suspect: !rate.warnings.is_empty(),
        ..View::default()
    });
    for (views, ratios) in rows.iter_mut().zip(&reports.relative.rows) {
        for (view, ratio) in views.iter_mut().zip(&ratios.cells) {
            view.tint = ratio.value().map_or(0, tint);
        }
    }
    rows
}

/// Throughput as a multiple of the base's.
pub(crate) fn relative(reports: &Reports) -> Vec<Vec<View>> {
    matrix(reports, &reports.relative, |_, relative| {
        let interval = relative
            .interval
            .map(|interval| format!("{}–{}", number::ratio(interval.low), number::ratio(interval.high)));
        View {
            main: number::ratio(relative.ratio),
            side: interval.unwrap_or_default(),
            mark: if tint(relative) == 0 { relative.finding.map_or("", words::mark) } else { "" },
            tint: tint(relative),
            is_suspect: words::is_suspect(relative),
        }
    })
}

/// One cost of an operation, as a value and as a multiple of the base's. Costs have no verdict, and so no tint.
pub(crate) fn cost(reports: &Reports, cost: Cost) -> Vec<Vec<View>> {
    let base = phrases::base_id(reports);
    matrix(reports, &reports.efficiency, |cell, costs| {
        let Some(value) = costs.get(cost) else { return View { main: "–".to_owned(), ..View::default() } };
        let relative = value.relative.filter(|_| cell.system != base);
        View {
            main: number::three_digits(value.median),
            side: relative.map(|relative| number::times(relative.ratio)).unwrap_or_default(),
            mark: if value.is_quotient { "" } else { phrases::OF_ROUNDS },
            ..View::default()
        }
    })
}

fn matrix<T>(reports: &Reports, matrix: &Matrix<T>, show: impl Fn(&Cell<T>, &T) -> View) -> Vec<Vec<View>> {
    let view = |cell: &Cell<T>| {
        match &cell.content {
            Content::Measured(value) => show(cell, value),
            // The run has not measured the cell yet.
            Content::Missing if reports.run.is_going_on() => {
                View { main: "–".to_owned(), ..View::default() }
            }
            other => View { main: phrases::content(other).to_owned(), ..View::default() },
        }
    };
    matrix.rows.iter().map(|row| row.cells.iter().map(view).collect()).collect()
}

/// The tint of a comparison; 0 unless the candidate is faster or slower by verdict.
pub(crate) fn tint(relative: &Relative) -> i8 {
    match relative.finding {
        Some(Finding::Improved) => strength(relative.ratio),
        Some(Finding::Regressed) => -strength(relative.ratio),
        _ => 0,
    }
}

/// The strength of a tint, which is the same for a ratio and for its inverse: from 1 (up to 5%) to 5 (more than a
/// factor of two).
fn strength(ratio: f64) -> i8 {
    let factor = ratio.max(1.0 / ratio);
    [1.05, 1.15, 1.4, 2.0].iter().filter(|step| factor > **step).count() as i8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_tint_is_only_where_there_is_a_verdict_and_grows_with_the_factor() {
        let reports = reports(&sample::run(12));
        let cells = reports.relative.rows.iter().flat_map(|row| &row.cells);
        let views = relative(&reports);
        let mut seen = [0; 3];
        for (cell, view) in cells.zip(views.iter().flatten()) {
            let Some(value) = cell.value() else { continue };
            match value.finding {
                Some(Finding::Improved) => assert_eq!((view.tint, view.mark), (strength(value.ratio), "")),
                Some(Finding::Regressed) => assert_eq!((view.tint, view.mark), (-strength(value.ratio), "")),
                Some(Finding::NotEnoughEvidence) => assert_eq!((view.tint, view.mark), (0, "?")),
                Some(Finding::Same) => assert_eq!((view.tint, view.mark), (0, "=")),
                _ => assert_eq!(view.tint, 0),
            }
            seen[match view.tint.signum() {
                1 => 0,
                -1 => 1,
                _ => 2,
            }] += 1;
        }
        assert!(seen.iter().all(|count| *count > 2), "{seen:?}");
        let row = &views[1];
        assert_eq!(
            (row[0].main.as_str(), row[0].beside().as_str(), row[0].tint),
            ("1.00", "", 0),
            "the base itself"
        );
        assert_eq!((row[2].main.as_str(), row[2].tint), ("0.72", -3));
        let unsure = relative(&self::reports(&sample::run(1)));
        assert!(unsure.iter().flatten().all(|view| view.tint == 0));
    }

    #[test]
    fn costs_have_no_verdict_and_no_tint() {
        let reports = reports(&sample::run(12));
        let views = cost(&reports, Cost::ServerCpu);
        assert!(views.iter().flatten().all(|view| view.tint == 0 && view.mark.is_empty()));
        assert_eq!(views[2][2].side, "×2.30");
    }

    #[test]
    fn strength_is_symmetric() {
        let cases = [(1.01, 1), (1.1, 2), (1.3, 3), (1.9, 4), (8.0, 5)];
        for (ratio, expected) in cases {
            assert_eq!((strength(ratio), strength(1.0 / ratio)), (expected, expected), "{ratio}");
        }
        assert_eq!(strength(f64::INFINITY), STRENGTH_MAX);
    }
}
