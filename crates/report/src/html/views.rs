//! The three matrices as text and tints, for every system as the base.

use dyno_stats::PairedRatio;
use serde::Serialize;

use crate::cost_tables;
use crate::model::{Cell, Content, Cost, Matrix, Reports};
use crate::number;
use crate::phrases;
use crate::table::Tint;
use crate::tables;

/// Greatest strength of a tint.
pub(crate) const STRENGTH_MAX: i8 = 5;

/// A cell as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The number, or why there is none.
    pub(crate) main: String,
    /// What stands small beside it: an interval, a multiple.
    pub(crate) side: String,
    /// From −5, much worse, to 5, much better; 0 where the interval does not exclude "no change".
    pub(crate) tint: i8,
}

/// The cells of a matrix in row order, as the page's script reads them.
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
            views.main.push(view.main);
            views.side.push(view.side);
            views.tint.push(view.tint);
        }
        views
    }
}

/// All that changes with the base.
#[derive(Debug, Serialize)]
pub(crate) struct BaseViews {
    absolute: Views,
    relative: Views,
    /// For each of the shown costs, in order.
    costs: Vec<Views>,
}

impl BaseViews {
    /// The matrices against the base of these reports.
    pub(crate) fn of(reports: &Reports, costs: &[Cost]) -> Self {
        Self {
            absolute: Views::of(absolute(reports)),
            relative: Views::of(relative(reports)),
            costs: costs.iter().map(|cost| Views::of(self::cost(reports, *cost))).collect(),
        }
    }
}

/// Throughput, tinted as its ratio is.
pub(crate) fn absolute(reports: &Reports) -> Vec<Vec<View>> {
    let base = phrases::base_id(reports);
    let mut rows = matrix(&reports.absolute, |_, rate| View {
        main: number::three_digits(rate.operations_per_second),
        ..View::default()
    });
    for (views, ratios) in rows.iter_mut().zip(&reports.relative.rows) {
        for (view, ratio) in views.iter_mut().zip(&ratios.cells) {
            view.tint =
                ratio.value().filter(|_| ratio.system != base).map_or(0, |paired| tint(paired, Tint::Better));
        }
    }
    rows
}

/// Throughput as a multiple of the base's.
pub(crate) fn relative(reports: &Reports) -> Vec<Vec<View>> {
    let base = phrases::base_id(reports);
    matrix(&reports.relative, |cell, paired| {
        if cell.system == base {
            return View { main: number::ratio(paired.ratio), ..View::default() };
        }
        let interval = paired
            .interval
            .map(|interval| format!("{}–{}", number::ratio(interval.low), number::ratio(interval.high)));
        View {
            main: number::ratio(paired.ratio),
            side: interval.unwrap_or_default(),
            tint: tint(paired, Tint::Better),
        }
    })
}

/// One cost of an operation, with its multiple of the base's.
pub(crate) fn cost(reports: &Reports, cost: Cost) -> Vec<Vec<View>> {
    let base = phrases::base_id(reports);
    let unit = cost_tables::unit(cost);
    matrix(&reports.efficiency, |cell, costs| {
        let Some(value) = costs.get(cost) else { return View { main: "–".to_owned(), ..View::default() } };
        let paired = value.relative.as_ref().filter(|_| cell.system != base);
        View {
            main: number::three_digits(value.median / unit),
            side: paired.map(|paired| format!("×{}", number::ratio(paired.ratio))).unwrap_or_default(),
            tint: paired.map_or(0, |paired| tint(paired, Tint::Worse)),
        }
    })
}

fn matrix<T>(matrix: &Matrix<T>, show: impl Fn(&Cell<T>, &T) -> View) -> Vec<Vec<View>> {
    let view = |cell: &Cell<T>| {
        let word = |word: &str| View { main: word.to_owned(), ..View::default() };
        match &cell.content {
            Content::Measured(value) => show(cell, value),
            Content::Failed => word("failed"),
            Content::Missing => word("missing"),
            Content::Incomparable => word("no base"),
            Content::Unplanned => View::default(),
        }
    };
    matrix.rows.iter().map(|row| row.cells.iter().map(view).collect()).collect()
}

/// How strong a sure difference is; `above_one` says what a ratio above 1 means.
fn tint(paired: &PairedRatio, above_one: Tint) -> i8 {
    let below_one = if above_one == Tint::Better { Tint::Worse } else { Tint::Better };
    match tables::tint(paired, above_one, below_one) {
        None => 0,
        Some(Tint::Better) => strength(paired.ratio),
        Some(Tint::Worse) => -strength(paired.ratio),
    }
}

/// From 1 for up to 5% to 5 for more than a factor of two, either way.
fn strength(ratio: f64) -> i8 {
    let factor = ratio.max(1.0 / ratio);
    [1.05, 1.15, 1.4, 2.0].iter().filter(|step| factor > **step).count() as i8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_tint_is_only_where_the_interval_excludes_one_and_grows_with_the_factor() {
        let views = relative(&reports(&sample::run(7)));
        let row = &views[1];
        assert_eq!((row[0].main.as_str(), row[0].tint), ("1.00", 0), "the base itself");
        assert_eq!((row[1].main.as_str(), row[1].side.as_str(), row[1].tint), ("1.10", "1.10–1.15", 2));
        assert_eq!((row[2].main.as_str(), row[2].tint), ("0.72", -3));
        let unsure = relative(&reports(&sample::run(5)));
        assert!(unsure.iter().flatten().all(|view| view.tint == 0 && view.side.is_empty()));
    }

    #[test]
    fn a_higher_cost_is_worse() {
        let reports = reports(&sample::run(7));
        let views = cost(&reports, Cost::ServerCpu);
        let throughput = absolute(&reports);
        assert!(views[2][2].tint < 0 && throughput[2][2].tint < 0);
        assert!(views[3][2].tint > 0 && throughput[3][2].tint > 0);
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
