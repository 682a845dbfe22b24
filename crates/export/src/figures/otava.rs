//! Apache Otava's CSV files and their configuration: <https://github.com/apache/otava/blob/master/docs/CSV.md>.
//!
//! One test in Otava is one system in one test of Dyno. It has a file with a row for each run. Otava needs a number in
//! each column of each row. So if one of the runs lacks a latency, this latency has no column.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dyno_judge::{History, HistoryPoint, HistoryRule, Quantity, TestHistory, histories};
use dyno_stats::{Better, ChangeRule};
use dyno_store::{Run, utc_text};

use super::names::{FileNames, plain_name};
use super::{FigureFile, LeftOutRun, Made, WhyLeftOut};

/// The name of the configuration file.
const CONFIGURATION: &str = "otava.yaml";

/// The quantities that become columns, after the columns `time`, `run` and `version`.
const QUANTITIES: [Quantity; 4] =
    [Quantity::Throughput, Quantity::LatencyP50, Quantity::LatencyP95, Quantity::LatencyP99];

/// Makes a file for each system in a test, and the configuration file. For each plan, the files have the newest run and
/// the runs that `dyno history` compares with it.
pub(super) fn files(runs: Vec<Run>) -> Made {
    let mut plans: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for run in runs {
        plans.entry(run.record.plan_name.clone()).or_default().push(run);
    }
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let mut names = FileNames::default();
    let (mut tests, mut groups) = (String::new(), String::new());
    for (plan, runs) in plans {
        let found = QUANTITIES.map(|quantity| newest(&runs, quantity));
        left_out.extend(runs.iter().filter_map(|run| left_out_of(run, found[0].as_ref())));
        let Some(throughput) = &found[0] else { continue };
        let series: Vec<Series<'_>> =
            throughput.tests.iter().map(|test| Series::of(&plan, test, &found)).collect();
        if series.is_empty() {
            continue;
        }
        let _ = writeln!(groups, "  {}:", quoted(&plan));
        for series in series {
            let TestHistory { system, step, clients, .. } = series.test;
            let stem = [&plan, system, step].map(|part| plain_name(part)).join(".");
            let name = names.name(&format!("{stem}.{clients}"), "csv");
            tests += &series.configuration(&name);
            let _ = writeln!(groups, "    - {}", quoted(&series.name));
            files.push(FigureFile { name, text: series.csv(), rows: series.test.points.len() as u64 });
        }
    }
    if !files.is_empty() {
        let rows = files.len() as u64;
        let text = format!("tests:\n{tests}test_groups:\n{groups}");
        files.push(FigureFile { name: CONFIGURATION.to_owned(), text, rows });
    }
    (files, left_out)
}

/// Returns the history that contains the newest of a plan's runs. `None` if none of these runs has a figure.
fn newest(runs: &[Run], quantity: Quantity) -> Option<History> {
    // The history is not searched for changes, because Otava searches for them itself.
    let changes = ChangeRule { permutations: 0, ..ChangeRule::default() };
    histories(runs, &HistoryRule { quantity, changes }).into_iter().next()
}

fn left_out_of(run: &Run, history: Option<&History>) -> Option<LeftOutRun> {
    let is_in_it = |history: &History| history.runs.contains(&run.id.0);
    let has_point = |history: &History| {
        history.tests.iter().any(|test| test.points.iter().any(|point| point.run == run.id.0))
    };
    let why = match history {
        Some(history) if !is_in_it(history) => WhyLeftOut::OtherConditions,
        Some(history) if has_point(history) => return None,
        _ => WhyLeftOut::NoFigure,
    };
    Some(LeftOutRun { run: run.id, why })
}

/// A system in a test, with a row for each run.
struct Series<'a> {
    name: String,
    test: &'a TestHistory,
    /// The quantities for which every run has a value. Each quantity has one value for each run.
    columns: Vec<(Quantity, Vec<f64>)>,
}

impl<'a> Series<'a> {
    fn of(plan: &str, test: &'a TestHistory, histories: &[Option<History>]) -> Self {
        let column = |(quantity, history): (Quantity, &Option<History>)| {
            let is_it = |other: &&TestHistory| {
                (&other.system, &other.step, other.clients) == (&test.system, &test.step, test.clients)
            };
            let of_quantity = history.as_ref()?.tests.iter().find(is_it)?;
            let value = |point: &HistoryPoint| {
                let found = of_quantity.points.iter().find(|other| other.run == point.run)?;
                Some(found.value).filter(|value| value.is_finite())
            };
            Some((quantity, test.points.iter().map(value).collect::<Option<Vec<f64>>>()?))
        };
        Self {
            name: format!("{plan}.{}.{}.{}", test.system, test.step, test.clients),
            test,
            columns: QUANTITIES.into_iter().zip(histories).filter_map(column).collect(),
        }
    }

    fn csv(&self) -> String {
        let mut text = "time,run,version".to_owned();
        for (quantity, _) in &self.columns {
            let _ = write!(text, ",{}", quantity.name());
        }
        text.push('\n');
        for (at, point) in self.test.points.iter().enumerate() {
            let version = point.engine_version.as_deref().unwrap_or_default().replace('"', "\"\"");
            let _ = write!(text, "{},{},\"{version}\"", utc_text(point.started_at_ms), point.run);
            for (_, values) in &self.columns {
                let _ = write!(text, ",{:?}", values[at]);
            }
            text.push('\n');
        }
        text
    }

    /// Returns the entry for this Otava test in the configuration file.
    fn configuration(&self, file: &str) -> String {
        let mut text = format!(
            "  {}:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [run, version]\n    metrics:\n",
            quoted(&self.name),
            quoted(file)
        );
        for (quantity, _) in &self.columns {
            let direction = match quantity.better() {
                Better::Higher => 1,
                Better::Lower => -1,
            };
            let _ = writeln!(text, "      {}: {{ direction: {direction} }}", quantity.name());
        }
        text
    }
}

/// Returns a text as a JSON string in quotes, which is also a valid YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
