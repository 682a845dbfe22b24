//! Events of steps. Charts show the rate, the latency and the failures of all systems on one time axis that marks
//! the events. Below them is a table.

use dyno_judge::{EventSecond, EventfulTest};
use maud::{Markup, html};

use crate::chart::{Axis, COLOURS, Chart, Line, LineChart};
use crate::html::parts::scaling::legend;
use crate::model::Reports;
use crate::sections::{events, joins};

/// Width of all charts, in pixels. `HEIGHTS` are the heights of the charts of rates, latencies and failures.
const WIDTH: f64 = 760.0;
const HEIGHTS: [f64; 3] = [250.0, 170.0, 120.0];

/// The charts and tables; empty if no step has events.
pub(crate) fn section(reports: &Reports) -> Markup {
    html! {
        @if !reports.events.is_empty() {
            section #events {
                h2 { (events::TITLE) }
                p.how { (events::paragraphs(reports).join(" "))
                    " Charts show each second, median over rounds; above a line in them is the name of the event that was due then." }
                (legend(reports))
                @for test in &reports.events {
                    h3 { (events::title(test)) }
                    figure.wide data-group=(test.group) {
                        @for (name, chart) in charts(reports, test) {
                            figcaption { (name) " over seconds" }
                            (chart.inline())
                        }
                    }
                    @for table in events::tables(reports, test) {
                        (crate::format::html::table("Events", &table))
                    }
                    @for remark in events::remarks(test) { p.note { (remark) } }
                }
            }
        }
    }
}

/// A function that takes the data of a second and returns the figure that a chart shows for this second.
type Shown = fn(&EventSecond) -> Option<f64>;

/// The charts of a test, each with a name. Charts without a value above 0 are left out.
pub(crate) fn charts(reports: &Reports, test: &EventfulTest) -> Vec<(String, Chart)> {
    let rate: Shown = |second| Some(second.rate);
    let p99: Shown = |second| second.p99_ms;
    let failed: Shown = |second| Some(second.failed);
    let rates = format!("{}: {} per second", test.step, joins::operations(test.operation));
    let all = [
        (rates, "per second", rate),
        ("99th percentile of latency in ms".to_owned(), "ms", p99),
        ("failed transactions".to_owned(), "failed", failed),
    ];
    let drawn = all.into_iter().zip(HEIGHTS).filter_map(|((name, unit, shown), height)| {
        let chart = chart(reports, test, shown, (unit, height))?;
        let title = format!("{name}; {}", events::title(test));
        Some((name, Chart { title, ..chart }))
    });
    drawn.collect()
}

/// A chart without a title, with a line for each system. `None` if no value is above 0.
fn chart(
    reports: &Reports,
    test: &EventfulTest,
    shown: Shown,
    (unit, height): (&'static str, f64),
) -> Option<Chart> {
    // A figure belongs to a whole second, so its point is in the middle of the second.
    let point =
        |second: &EventSecond| (f64::from(second.at_seconds) + 0.5, shown(second).unwrap_or(f64::NAN));
    let lines = reports.systems.iter().enumerate().filter_map(|(series, system)| {
        let found = test.systems.iter().find(|found| found.system == system.id)?;
        let points = found.seconds.iter().map(point).collect();
        Some(Line { series, points, has_dots: false, is_dashed: series >= COLOURS })
    });
    let lines: Vec<Line> = lines.collect();
    let values = lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value);
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let seconds = test.systems.iter().map(|system| system.seconds.len()).max().unwrap_or(0);
    values.iter().any(|value| *value > 0.0).then(|| {
        LineChart {
            title: String::new(),
            width: WIDTH,
            height,
            x: Axis::Linear { min: 0.0, max: seconds as f64 },
            y: Axis::from_zero(values.iter().copied()),
            units: ["seconds", unit],
            x_ticks: Vec::new(),
            marks: test.events.iter().map(|event| (event.at_seconds, event.id.clone())).collect(),
            lines,
        }
        .draw()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn rate_latency_and_failures_share_an_axis_with_the_event_on_it() {
        let reports = reports(&sample::disrupted_run());
        let found = charts(&reports, &reports.events[0]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let expected =
            ["ddl: transactions per second", "99th percentile of latency in ms", "failed transactions"];
        assert_eq!(names, expected);
        let across = |svg: &str| {
            let mark = svg.split("class=\"join\" d=\"M").nth(1).expect("a mark");
            mark.split(' ').next().expect("its place").to_owned()
        };
        let places: Vec<String> =
            found.iter().map(|(_, chart)| across(&chart.inline().into_string())).collect();
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
        let page = section(&reports).into_string();
        assert!(page.contains(">alter</text>") && page.contains("ADD INDEX k2"), "{page}");
        assert_eq!(section(&sample::reports(&sample::run(1))).into_string(), "");
    }
}
