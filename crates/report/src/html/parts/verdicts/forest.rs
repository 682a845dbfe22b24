//! A plot with a line for each test: each candidate's ratio to the base, with its interval, on a logarithmic axis.
//!
//! The plot is a table, not a drawing, so that text keeps its size on narrow screens and rows can be hidden.

use dyno_judge::Finding;
use dyno_stats::Interval;
use maud::{Markup, html};

use crate::brief::rows::{TestRow, choose, rows};
use crate::chart::colour;
use crate::html::address;
use crate::html::parts::scaling::legend;
use crate::html::parts::views::tint;
use crate::model::{Cell, Relative, Reports};
use crate::wording::number::{self, counted};
use crate::wording::phrases;
use crate::wording::words;

/// Number of tests that are visible at first.
const SHOWN_MAX: usize = 30;
/// Largest number of comparisons, which limits the size of the page. The matrices have all comparisons.
const COMPARISONS_MAX: usize = 400;
/// Ratios at which the axis has ticks if there is space for their labels. The inverse of such a ratio then has a tick
/// too.
const TICKS: [f64; 15] =
    [1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4];

/// The section; empty if no test has a comparison.
pub(crate) fn section(reports: &Reports) -> Markup {
    let lines = lines(reports);
    html! {
        @if has_any(reports) {
            section #forest {
                h2 { "Every test against " span data-base-name { (phrases::base_id(reports)) } }
                p.how { "Throughput as a multiple of the base’s, on a logarithmic axis; right of the line at 1 is faster. "
                    "A line is an interval; an arrow at its end means that it continues beyond the axis. Filled dots have a verdict, hollow dots have none; hover for the reason." }
                @if candidates(reports) > 1 { (legend(reports)) }
                div #forest-lines { (lines) }
            }
        }
    }
}

fn candidates(reports: &Reports) -> usize {
    reports.systems.iter().filter(|system| !system.is_base).count()
}

fn has_any(reports: &Reports) -> bool {
    rows(reports).iter().flat_map(|row| &row.candidates).any(|cell| cell.value().is_some())
}

/// A line for each test, with the ratio of each candidate to the base of these reports. If there are many tests, only
/// those with the largest differences are visible at first.
pub(crate) fn lines(reports: &Reports) -> Markup {
    let all: Vec<TestRow<'_>> = rows(reports).into_iter().filter(|row| !row.candidates.is_empty()).collect();
    let scale = Scale::of(&all);
    let drawn = choose(all, (COMPARISONS_MAX / candidates(reports).max(1)).max(1));
    let chosen = choose(drawn.shown, SHOWN_MAX);
    html! {
        (table(reports, &chosen.shown, scale))
        @if !chosen.left.is_empty() {
            details { summary { (counted(chosen.left.len() as u64, "more test")) } (table(reports, &chosen.left, scale)) }
        }
        @if !drawn.left.is_empty() {
            p.fine { (counted(drawn.left.len() as u64, "more test")) " in the tables below." }
        }
    }
}

/// A logarithmic axis with equal lengths below and above 1.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The ratio at the right end of the axis. The left end is its inverse.
    reach: f64,
}

/// A position on the axis, in percent of its length, and whether the ratio lies beyond the end of the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    percent: f64,
    is_beyond: bool,
}

impl Scale {
    /// A scale that contains all ratios. Intervals may extend beyond it. If the scale contained a very wide interval,
    /// all other intervals would look like dots.
    fn of(rows: &[TestRow<'_>]) -> Self {
        let ratios = rows.iter().flat_map(|row| &row.candidates).filter_map(|cell| Some(cell.value()?.ratio));
        let far = ratios.map(|ratio| ratio.max(1.0 / ratio)).filter(|far| far.is_finite());
        Self { reach: far.fold(1.1, f64::max).powf(1.15) }
    }

    fn place(self, multiple: f64) -> Place {
        let share = multiple.ln() / self.reach.ln();
        Place { percent: 50.0 + 50.0 * share.clamp(-1.0, 1.0), is_beyond: !(-1.0..=1.0).contains(&share) }
    }

    /// The ratios with a tick. Their distances leave space for the labels.
    fn ticks(self) -> Vec<f64> {
        let gap = 0.42 * self.reach.ln();
        let (mut last, mut above) = (0.0, Vec::new());
        for tick in TICKS.into_iter().filter(|tick| *tick <= self.reach) {
            if tick.ln() - last >= gap {
                last = tick.ln();
                above.push(tick);
            }
        }
        let below = above.iter().rev().map(|tick| 1.0 / tick);
        below.chain([1.0]).chain(above.iter().copied()).collect()
    }

    /// The ticks as lines behind the dots.
    fn grid(self) -> String {
        let line = |tick: f64| {
            let place = self.place(tick).percent;
            format!("linear-gradient(var(--line),var(--line)) {place:.2}% 0/1px 100% no-repeat")
        };
        self.ticks().into_iter().map(line).collect::<Vec<_>>().join(",")
    }
}

fn table(reports: &Reports, rows: &[TestRow<'_>], scale: Scale) -> Markup {
    let has_systems = candidates(reports) > 1;
    html! {
        div.scroll { table.forest style=(format!("--grid:{}", scale.grid())) {
            caption.hidden-text { "Throughput of each test as a multiple of the base's, with intervals" }
            thead { tr {
                th.test scope="col" { "test" }
                @if has_systems { th.system scope="col" { "system" } }
                th scope="col" aria-label="multiple of the base's throughput, logarithmic" { div.axis {
                    @for tick in scale.ticks() { span style=(format!("left:{:.2}%", scale.place(tick).percent)) { (tick_name(tick)) } }
                } }
                th.num scope="col" { "multiple" }
            } }
            @for row in rows { (test(reports, row, scale, has_systems)) }
        } }
    }
}

/// The label of a tick: `×0.5`, `×1`, `×1.1`.
fn tick_name(tick: f64) -> String {
    let name = number::ratio(tick);
    let name = if name.contains('.') { name.trim_end_matches('0').trim_end_matches('.') } else { &name };
    format!("×{name}")
}

fn test(reports: &Reports, row: &TestRow<'_>, scale: Scale, has_systems: bool) -> Markup {
    html! {
        tbody data-group=(row.group) data-clients=(row.clients) {
            @for (at, cell) in row.candidates.iter().enumerate() {
                @let series = reports.systems.iter().position(|system| system.id == cell.system).unwrap_or(0);
                tr {
                    @if at == 0 {
                        th.test scope="rowgroup" rowspan=(row.candidates.len()) {
                            (row.step)
                            @if reports.client_counts.len() > 1 { " " span.unit { (counted(u64::from(row.clients), "client")) } }
                        }
                    }
                    @if has_systems { td.system { span class=(format!("swatch {}", colour(series))) {} span.name { (cell.system) } } }
                    (comparison(row, cell, scale, &colour(series)))
                }
            }
        }
    }
}

fn comparison(row: &TestRow<'_>, cell: &Cell<Relative>, scale: Scale, colour: &str) -> Markup {
    let Some(relative) = cell.value() else {
        return html! { td { span.none { (phrases::content(&cell.content)) } } td.num {} };
    };
    let is_open = !matches!(relative.finding, Some(Finding::Improved | Finding::Regressed | Finding::Same));
    let tint = tint(relative);
    let mark = relative.finding.map_or("", words::mark);
    html! {
        td.plot {
            a class=(format!("track {colour}")) href=(address::of_cell(row.step, &cell.system, row.clients)) {
                @if let Some(interval) = relative.interval { (whisker(interval, scale)) }
                i class=(if is_open { "dot open" } else { "dot" }) style=(format!("left:{:.2}%", scale.place(relative.ratio).percent)) {}
            }
        }
        td.num data-tint=[(tint != 0).then_some(tint)] {
            b { (number::ratio(relative.ratio)) }
            span.sign { (mark) @if words::is_suspect(relative) { " ⚠" } }
            @if let Some(interval) = relative.interval { i { (number::ratio(interval.low)) "–" (number::ratio(interval.high)) } }
        }
    }
}

fn whisker(interval: Interval, scale: Scale) -> Markup {
    let (low, high) = (scale.place(interval.low), scale.place(interval.high));
    html! {
        i.whisker style=(format!("left:{:.2}%;width:{:.2}%", low.percent, high.percent - low.percent)) {}
        @if low.is_beyond { i.beyond.low {} }
        @if high.is_beyond { i.beyond.high {} }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn every_comparison_has_its_dot_its_interval_and_the_colour_of_its_system() {
        let page = section(&reports(&sample::run(12))).into_string();
        assert_eq!(page.matches("class=\"track s1\"").count(), 11, "one for each test of maria: {page}");
        assert_eq!(page.matches("class=\"track s2\"").count(), 11);
        assert_eq!(page.matches("class=\"whisker\"").count(), 20, "loads ran once and have none");
        assert!(page.contains("href=\"#cell=point-query/maria/4\""), "{page}");
        for tick in ["×0.5<", "×1<", "×2<"] {
            assert!(page.contains(tick), "{tick}: {page}");
        }
    }

    #[test]
    fn an_interval_that_goes_on_has_an_arrow() {
        let scale = Scale { reach: 2.0 };
        let drawn = whisker(Interval { low: 0.1, high: 1.5, confidence: 0.95 }, scale).into_string();
        assert!(drawn.contains("beyond low") && !drawn.contains("beyond high"), "{drawn}");
        assert!(drawn.contains("left:0.00%;"), "{drawn}");
    }

    #[test]
    fn one_is_in_the_middle_and_ticks_are_apart() {
        for reach in [1.13, 2.0, 4.0, 300.0, 1e6] {
            let scale = Scale { reach };
            assert_eq!(scale.place(1.0), Place { percent: 50.0, is_beyond: false });
            let places: Vec<f64> = scale.ticks().iter().map(|tick| scale.place(*tick).percent).collect();
            assert!(places.len() >= 3, "{reach}: {places:?}");
            assert!(places.windows(2).all(|two| two[1] - two[0] > 20.9), "{reach}: {places:?}");
        }
    }

    #[test]
    fn of_many_tests_the_largest_differences_are_seen_and_the_others_open() {
        let page = lines(&reports(&sample::large_run())).into_string();
        assert!(page.contains("<details><summary>70 more tests</summary>"), "{}", &page[page.len() - 3000..]);
        assert!(page.contains("14 more tests in the tables below."));
    }

    #[test]
    fn a_run_of_one_system_has_no_plot() {
        let mut run = sample::run(6);
        run.systems.truncate(1);
        run.trials.retain(|trial| trial.record.system_id == "mysql56");
        assert_eq!(section(&reports(&run)).into_string(), "");
    }
}
