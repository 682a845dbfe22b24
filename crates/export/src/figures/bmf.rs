//! Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format>.
//!
//! A benchmark is a system in a test. Its name, such as `plan/system/step/4 clients`, is the same in each run.
//! `throughput` (in operations per second) and `latency` (in nanoseconds) are measures that every Bencher project
//! has.

use std::collections::BTreeMap;

use dyno_judge::{Analysis, Cell, CostFigure, Quantity, RoundValue, Rule, Test, TrialChecks, analyse};
use dyno_store::Run;
use serde::Serialize;

use super::names::{FileNames, plain_name};
use super::{FigureFile, LeftOutRun, Made, WhyLeftOut};

/// For each latency, the name of its measure in Bencher, and the quantity that Dyno measured.
const LATENCIES: [(&str, Quantity); 3] = [
    ("latency", Quantity::LatencyP50),
    ("latency-p95", Quantity::LatencyP95),
    ("latency-p99", Quantity::LatencyP99),
];

/// Nanoseconds in a microsecond.
const NS: f64 = 1000.0;

/// A figure of a benchmark: the median over rounds. If there are several rounds, the lowest and the highest value of a
/// round are added.
#[derive(Debug, Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

type Metrics = BTreeMap<&'static str, Metric>;

/// Makes a file for each run that has a figure.
pub(super) fn files(runs: &[Run]) -> Made {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let mut names = FileNames::default();
    for run in runs {
        let analysis = analyse(run, &TrialChecks::default(), &Rule::default());
        let benchmarks = benchmarks(run, &analysis);
        if benchmarks.is_empty() {
            left_out.push(LeftOutRun { run: run.id, why: WhyLeftOut::NoFigure });
            continue;
        }
        let name = names.name(&format!("{}-{}", plain_name(&run.record.plan_name), run.id), "json");
        let text = serde_json::to_string_pretty(&benchmarks).unwrap_or_default() + "\n";
        files.push(FigureFile { name, text, rows: benchmarks.len() as u64 });
    }
    (files, left_out)
}

/// Returns the benchmarks of a run by name. Controls are left out, because a control repeats another system.
fn benchmarks(run: &Run, analysis: &Analysis) -> BTreeMap<String, Metrics> {
    let is_control = |id: &str| run.systems.iter().any(|it| it.id == id && it.control_of.is_some());
    let cells = analysis.tests.iter().flat_map(|test| test.cells.iter().map(move |cell| (test, cell)));
    let cells = cells.filter(|(_, cell)| !is_control(&cell.system));
    let benchmark = |(test, cell): (&Test, &Cell)| {
        let clients =
            if test.clients == 1 { "1 client".to_owned() } else { format!("{} clients", test.clients) };
        let name = format!("{}/{}/{}/{clients}", run.record.plan_name, cell.system, test.step);
        Some((name, metrics(cell))).filter(|(_, metrics)| !metrics.is_empty())
    };
    cells.filter_map(benchmark).collect()
}

fn metrics(cell: &Cell) -> Metrics {
    let throughput = cell.rate.and_then(|rate| metric(rate, &cell.rounds, 1.0)).map(|it| ("throughput", it));
    let latency = |(name, quantity): (&'static str, Quantity)| {
        let CostFigure { median, is_lower_bound, rounds } = cell.costs.get(&quantity)?;
        metric(*median, rounds, NS).filter(|_| !is_lower_bound).map(|it| (name, it))
    };
    throughput.into_iter().chain(LATENCIES.into_iter().filter_map(latency)).collect()
}

fn metric(median: f64, rounds: &[RoundValue], factor: f64) -> Option<Metric> {
    let values = || rounds.iter().map(|round| round.value * factor).filter(|value| value.is_finite());
    let several = values().count() > 1;
    Some(Metric {
        value: Some(median * factor).filter(|value| value.is_finite())?,
        lower_value: values().reduce(f64::min).filter(|_| several),
        upper_value: values().reduce(f64::max).filter(|_| several),
    })
}
