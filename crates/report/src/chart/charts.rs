//! The figures of a report as charts in files, for a post or a slide.

use std::collections::HashMap;

use dyno_store::{Run, Second, Trial};

use crate::chart::{Axis, Chart, ChartFile, Group, Line, LineChart, bars, heat, ratios, stand_alone};
use crate::html::{
    PageInput, View, absolute, cost, distribution, event_charts, joined_charts, relative, scaling_chart,
};
use crate::model::{Rate, Reports, Row};
use crate::reports;
use crate::sections::efficiency;
use crate::sections::frontier;
use crate::wording::number::counted;
use crate::wording::phrases;
use crate::wording::prices::{dollars, dollars_per_million_operations};

/// Width and height of a line chart, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;

/// The charts of a run: the matrices, each candidate's ratios at each client count, each test's throughput against
/// concurrency, and the charts of tests with joining clients or events. If systems have prices, there are also charts
/// of throughput against price and of the price of operations.
pub fn charts(input: &PageInput<'_>) -> Vec<ChartFile> {
    let reports = reports(input.run, &input.details.checks, input.analysis);
    let base = phrases::base_id(&reports);
    let origin = origin(&reports);
    let ids: Vec<&str> = reports.systems.iter().map(|system| system.id.as_str()).collect();
    let mut files = matrices(&reports, &origin);
    for system in reports.systems.iter().filter(|system| !system.is_base) {
        for &clients in &reports.client_counts {
            let title = format!("{} against {base}, {}", system.id, counted(u64::from(clients), "client"));
            let chart = ratios(&reports, &system.id, clients, title);
            let name = format!("ratios-{}-{clients}", system.id);
            files.extend(chart.map(|chart| stand_alone(&name, &chart, &[], &origin)));
        }
    }
    for row in &reports.absolute.rows {
        let chart = scaling_chart(&reports, row, input.curves, WIDTH, HEIGHT);
        files.extend(chart.map(|chart| stand_alone(&format!("scaling-{}", row.step), &chart, &ids, &origin)));
    }
    for test in &reports.joined {
        for (name, chart) in joined_charts(&reports, test) {
            let name = format!("joined-{}-{}", test.clients, name);
            files.push(stand_alone(&name, &chart, &ids, &origin));
        }
    }
    for test in &reports.events {
        for (name, chart) in event_charts(&reports, test) {
            let name = format!("events-{}-{}-{}", test.step, test.clients, name);
            files.push(stand_alone(&name, &chart, &ids, &origin));
        }
    }
    for frontier in frontier::shown(&reports) {
        let chart = frontier::chart(&reports, frontier, WIDTH, HEIGHT);
        files.push(stand_alone(&format!("frontier-{}", frontier.step), &chart, &ids, &origin));
    }
    files.extend(money(input.run, &reports).map(|chart| stand_alone("money", &chart, &ids, &origin)));
    unique(files)
}

/// Throughput, ratios, and each cost that is not always 0, as strips of cells.
fn matrices(reports: &Reports, origin: &str) -> Vec<ChartFile> {
    let base = phrases::base_id(reports);
    let file = |name: &str, title: String, views: &[Vec<View>]| {
        stand_alone(name, &heat(title, reports, views), &[], origin)
    };
    let mut files = vec![
        file("absolute", "Operations per second".to_owned(), &absolute(reports)),
        file("relative", format!("Throughput as a multiple of {base}’s"), &relative(reports)),
    ];
    for each in efficiency::shown_costs(reports) {
        let name = format!("efficiency-{}", efficiency::name(each).replace("µs", "us").replace(',', ""));
        files.push(file(&name, format!("Efficiency: {}", efficiency::title(each)), &cost(reports, each)));
    }
    files
}

/// Dollars per million operations, one group of bars per test; `None` without prices.
fn money(run: &Run, reports: &Reports) -> Option<Chart> {
    let group =
        |row: &Row<Rate>| Group { name: row.step.clone(), values: dollars_per_million_operations(run, row) };
    let groups: Vec<Group> = reports.absolute.rows.iter().map(group).collect();
    let title = "Dollars for a million operations, at each test’s best client count".to_owned();
    bars(title, &groups, dollars)
}

/// The charts of a cell: throughput per second, with one line per round, and the test's latency distributions, with
/// one line per system. Empty if the cell was not measured.
pub fn cell_charts(input: &PageInput<'_>, step: &str, system: &str, clients: u32) -> Vec<ChartFile> {
    let reports = reports(input.run, &input.details.checks, input.analysis);
    let origin = origin(&reports);
    let of = |id: &str| -> Vec<&Trial> {
        let trials = input.run.trials.iter().filter(|trial| trial.record.is_complete());
        trials
            .filter(|trial| {
                (&*trial.record.step_id, &*trial.record.system_id, trial.record.clients)
                    == (step, id, clients)
            })
            .collect()
    };
    let name = format!("{step}-{system}-{clients}");
    let place = counted(u64::from(clients), "client");
    let trials = of(system);
    let lines = trials.iter().enumerate().filter_map(|(at, trial)| {
        let seconds = &input.details.trials.get(&trial.id)?.seconds;
        (seconds.len() > 1).then(|| line(at, rates(seconds)))
    });
    let throughput =
        line_chart(format!("{step}, {system}, {place}: operations per second"), lines.collect(), false);
    let labels: Vec<String> =
        trials.iter().map(|trial| format!("round {}", trial.record.round + 1)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let distributions = reports.systems.iter().enumerate().filter_map(|(at, system)| {
        let trials = of(&system.id);
        let records = trials.iter().map(|trial| &trial.record);
        Some(line(at, distribution(records)?.points_ms()))
    });
    let latency =
        line_chart(format!("{step}, {place}: latency in ms by percentile"), distributions.collect(), true);
    let ids: Vec<&str> = reports.systems.iter().map(|system| system.id.as_str()).collect();
    let mut files = Vec::new();
    files.extend(throughput.map(|chart| stand_alone(&format!("seconds-{name}"), &chart, &labels, &origin)));
    files.extend(latency.map(|chart| stand_alone(&format!("latency-{name}"), &chart, &ids, &origin)));
    if trials.is_empty() { Vec::new() } else { files }
}

fn line(series: usize, points: Vec<(f64, f64)>) -> Line {
    Line { series, points, has_dots: false, is_dashed: false }
}

/// Points for a chart: seconds since the load began, and operations per second.
fn rates(seconds: &[Second]) -> Vec<(f64, f64)> {
    let mut elapsed = 0.0;
    let point = |second: &Second| {
        elapsed += second.seconds;
        (elapsed, second.operations as f64 / second.seconds.max(f64::MIN_POSITIVE))
    };
    seconds.iter().map(point).collect()
}

/// A line chart whose x axis has seconds. If `is_over_nines`, the x axis has the number of nines of a percentile (1
/// is 90%, 2 is 99%), and the y axis is logarithmic. `None` without lines.
fn line_chart(title: String, lines: Vec<Line>, is_over_nines: bool) -> Option<Chart> {
    let points: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.points.iter().copied()).collect();
    let longest = points.iter().map(|(x, _)| *x).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let nines = ["0", "90%", "99%", "99.9%", "99.99%", "99.999%", "99.9999%"];
    let named = (0_u32..).map(f64::from).zip(nines).take_while(|(nine, _)| *nine <= longest);
    let chart = LineChart {
        title,
        width: WIDTH,
        height: HEIGHT,
        x: Axis::Linear { min: 0.0, max: longest },
        y: if is_over_nines {
            Axis::logarithmic(points.iter().map(|(_, y)| *y))
        } else {
            Axis::from_zero(points.iter().map(|(_, y)| *y))
        },
        units: if is_over_nines { ["percentile", "ms"] } else { ["seconds", "operations/s"] },
        x_ticks: if is_over_nines {
            named.map(|(nine, name)| (nine, name.to_owned())).collect()
        } else {
            Vec::new()
        },
        marks: Vec::new(),
        lines,
    };
    Some(chart.draw())
}

fn origin(reports: &Reports) -> String {
    let run = &reports.run;
    format!("plan {}, run {}, {} · Dyno {}", run.plan, run.id, &run.started_at[..10], run.dyno_version)
}

/// Adds a number to names that differ only in characters that file names cannot contain.
fn unique(mut files: Vec<ChartFile>) -> Vec<ChartFile> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for file in &mut files {
        let times = seen.entry(file.name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            file.name = format!("{}-{times}", file.name);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn names(files: &[ChartFile]) -> Vec<&str> {
        files.iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn every_view_has_its_file_and_every_file_is_a_picture() {
        let mut run = sample::run(7);
        run.systems
            .iter_mut()
            .zip([0.5, 0.4])
            .for_each(|(system, price)| system.dollars_per_hour = Some(price));
        let files = sample::with_page_input(&run, charts);
        let expected = [
            "absolute",
            "relative",
            "efficiency-server-CPU-us",
            "efficiency-client-CPU-us",
            "efficiency-context-switches",
            "efficiency-writes",
            "efficiency-KiB-written",
            "efficiency-fsyncs",
            "efficiency-MiB-s-written",
            "efficiency-server-memory-MiB-the-most",
            "efficiency-server-memory-MiB-the-mean",
            "efficiency-client-memory-MiB-the-most",
            "ratios-maria-1",
            "ratios-maria-4",
            "ratios-myrocks-1",
            "ratios-myrocks-4",
            "scaling-point-query",
        ];
        assert_eq!(names(&files)[..17], expected);
        let money = files.last().unwrap();
        assert_eq!(money.name, "money");
        assert!(
            money.svg.contains("class=\"bar s1\"") && !money.svg.contains("class=\"bar s2\""),
            "no price"
        );
        for file in &files {
            let drawing = roxmltree::Document::parse(&file.svg).unwrap();
            assert!(drawing.descendants().count() > 20, "{}", file.svg);
        }
    }

    #[test]
    fn without_prices_there_is_no_chart_of_money() {
        let run = sample::run(1);
        let files = sample::with_page_input(&run, charts);
        assert!(!names(&files).contains(&"money"));
    }

    #[test]
    fn hostile_names_stay_text_and_stay_in_the_folder() {
        let mut run = sample::run(1);
        run.systems[1].id = "../<script>&\"".to_owned();
        let hostile = run.systems[1].id.clone();
        run.trials
            .iter_mut()
            .filter(|trial| trial.record.system_id == "maria")
            .for_each(|trial| trial.record.system_id.clone_from(&hostile));
        let files = sample::with_page_input(&run, charts);
        for file in &files {
            assert!(!file.name.contains('/') && !file.svg.contains("<script"), "{}", file.name);
        }
        assert!(roxmltree::Document::parse(&files[0].svg).is_ok(), "{}", files[0].svg);
    }

    #[test]
    fn long_names_make_neither_large_pictures_nor_long_names_of_files() {
        let mut run = sample::run(1);
        let long = "x".repeat(1 << 20);
        run.systems[1].id.clone_from(&long);
        run.record.plan_name.clone_from(&long);
        for trial in run.trials.iter_mut().filter(|trial| trial.record.system_id == "maria") {
            trial.record.system_id.clone_from(&long);
        }
        for file in sample::with_page_input(&run, charts) {
            assert!(file.svg.len() < 1 << 18, "{} bytes", file.svg.len());
            assert!(file.name.len() < 250, "{}", file.name);
        }
    }

    #[test]
    fn a_cell_without_trials_has_no_chart() {
        let run = sample::run(1);
        let charts = sample::with_page_input(&run, |input| cell_charts(input, "nothing", "maria", 1));
        assert_eq!(charts, []);
    }
}
