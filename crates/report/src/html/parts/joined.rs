//! Throughput over time while background clients join: two charts with the same time axis, and a table.

use dyno_judge::{JoinedSecond, JoinedTest};
use maud::{Markup, html};

use crate::chart::{Axis, COLOURS, Chart, Line, LineChart};
use crate::document::Table;
use crate::html::parts::scaling::legend;
use crate::model::Reports;
use crate::sections::joins;

/// In pixels: the width of both charts, the height of the step's chart, and the height of the background load's
/// chart.
pub(crate) const SIZE: (f64, f64, f64) = (760.0, 250.0, 170.0);

/// The charts and tables; empty if no clients join.
pub(crate) fn section(reports: &Reports) -> Markup {
    html! {
        @if !reports.joined.is_empty() {
            section #joined {
                h2 { (joins::TITLE) }
                p.how { (joins::paragraphs(reports).join(" "))
                    " Charts show each second, median over rounds; above a line in them is the number of clients that run from then on." }
                (legend(reports))
                @for test in &reports.joined {
                    h3 { (joins::title(test)) }
                    figure.wide data-group=(test.group) {
                        @for (name, chart) in charts(reports, test) {
                            figcaption { (name) " over seconds" }
                            (chart.inline())
                        }
                    }
                    (crate::format::html::table(&joins::title(test), &untitled(joins::table(reports, test))))
                }
            }
        }
    }
}

/// The table without its title, because the title is above the charts.
fn untitled(table: Table) -> Table {
    Table { title: String::new(), ..table }
}

/// The charts of the step and of its background load, each with a name. Empty if nothing was measured.
pub(crate) fn charts(reports: &Reports, test: &JoinedTest) -> Vec<(String, Chart)> {
    let (width, height, background_height) = SIZE;
    let own: Rate = |second| Some(second.rate);
    let background: Rate = |second| second.background_rate;
    let both =
        [(joins::own_rate(test), own, height), (joins::background_rate(test), background, background_height)];
    let drawn = both.into_iter().filter_map(|(name, rate, height)| {
        let chart = chart(reports, test, rate, (width, height))?;
        let title = format!("{name}; {}", joins::title(test));
        Some((name, Chart { title, ..chart }))
    });
    drawn.collect()
}

/// A function that takes the data of a second and returns the rate that a chart shows for this second.
type Rate = fn(&JoinedSecond) -> Option<f64>;

/// A chart without a title, with a line for each system. `None` if there is no point.
fn chart(reports: &Reports, test: &JoinedTest, rate: Rate, (width, height): (f64, f64)) -> Option<Chart> {
    // A rate is a mean over a second, so its point is in the middle of the second.
    let point = |second: &JoinedSecond| Some((f64::from(second.at_seconds) + 0.5, rate(second)?));
    let lines = reports.systems.iter().enumerate().filter_map(|(series, system)| {
        let found = test.systems.iter().find(|found| found.system == system.id)?;
        let points = found.seconds.iter().filter_map(point).collect();
        Some(Line { series, points, has_dots: false, is_dashed: series >= COLOURS })
    });
    let lines: Vec<Line> = lines.collect();
    let rates: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(_, rate)| *rate).collect();
    // Both charts have the same time axis, even if a system lacks data.
    let seconds = test.systems.iter().map(|system| system.seconds.len()).max().unwrap_or(0);
    let marks = test.joins.iter().map(|join| (join.at_seconds, join.clients.to_string()));
    (!rates.is_empty()).then(|| {
        LineChart {
            title: String::new(),
            width,
            height,
            x: Axis::Linear { min: 0.0, max: seconds as f64 },
            y: Axis::from_zero(rates.into_iter()),
            units: ["seconds", "per second"],
            x_ticks: Vec::new(),
            marks: marks.collect(),
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
    fn reads_and_commits_share_an_axis_of_time_with_the_joins_on_it() {
        let reports = reports(&sample::joined_run());
        let found = charts(&reports, &reports.joined[0]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mixed: queries per second", "mixed.writers: transactions per second"]);
        let places = |svg: &str| -> Vec<String> {
            let marks = svg.split("class=\"join\" d=\"").skip(1);
            marks.map(|rest| rest.split_once('V').unwrap().0.to_owned()).collect()
        };
        let drawn: Vec<String> = found.iter().map(|(_, chart)| chart.inline().into_string()).collect();
        assert_eq!(places(&drawn[0]).len(), 2);
        assert!(drawn[0].contains(">4</text>") && drawn[0].contains(">16</text>"), "{}", drawn[0]);
        let across = |places: Vec<String>| -> Vec<String> {
            places.iter().map(|place| place.split(' ').next().unwrap().to_owned()).collect()
        };
        assert_eq!(across(places(&drawn[0])), across(places(&drawn[1])));
        assert!(section(&reports).into_string().contains("mixed: multiple of that without mixed.writers"));
        assert_eq!(section(&sample::reports(&sample::run(1))).into_string(), "");
    }
}
