//! Metrics of a results file, read by a strict parser.

use std::collections::{BTreeMap, BTreeSet};

use dyno_store::{
    CountsRecord, Ending, LatencyRecord, Measured, Operation, Outcome, RunRecord, SearchQuestion,
    SearchRecord, SearchSide, StepRecord, SystemRecord, TrialRecord, latency_record,
};
use tempfile::TempDir;

use super::*;
use crate::{Live, LiveFile, LiveTrial};

const ODD: &str = "a \"plan\" \\ of\nmine";

/// A results file in a separate folder.
struct Results {
    _folder: TempDir,
    store: Store,
}

impl Results {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("dyno.db")).unwrap();
        Self { _folder: folder, store }
    }

    /// Adds a run of two systems in a test with eight rounds. The second system is slower by a tenth. The run has
    /// ended unless `goes_on`.
    fn add(&mut self, plan: &str, started_at_ms: i64, goes_on: bool) {
        let record = RunRecord { plan_name: plan.to_owned(), started_at_ms, ..RunRecord::default() };
        self.add_with(&record, goes_on);
    }

    fn add_with(&mut self, record: &RunRecord, goes_on: bool) {
        let started_at_ms = record.started_at_ms;
        let run = self.store.create_run(record).unwrap();
        for (position, id) in (0..).zip(["old", "new"]) {
            let system = SystemRecord {
                id: id.to_owned(),
                position,
                is_base: position == 0,
                requested_settings: serde_json::json!({}),
                ..SystemRecord::default()
            };
            self.store.put_system(run, &system).unwrap();
        }
        let step = StepRecord {
            id: "point".to_owned(),
            operation: Operation::Query,
            clients: vec![4],
            rounds: 8,
            seconds: Some(10.0),
            options: serde_json::json!({}),
            ..StepRecord::default()
        };
        self.store.add_step(run, &step).unwrap();
        for round in 0..8 {
            for (system, rate) in [("old", 1000), ("new", 900)] {
                self.store.commit_trial(run, &trial(system, round, rate)).unwrap();
            }
        }
        if !goes_on {
            self.store.finish_run(run, Ending::Finished, started_at_ms + 1500).unwrap();
        }
    }

    fn metrics(&self) -> Samples {
        parse(&Metrics::new(self.store.path()).text().unwrap())
    }
}

fn trial(system: &str, round: u32, rate: u64) -> TrialRecord {
    let operations = (rate * 10) + u64::from(round % 3);
    let latency = latency_record((0..100).map(|_| 2000));
    TrialRecord {
        system_id: system.to_owned(),
        step_id: "point".to_owned(),
        clients: 4,
        round,
        outcome: Outcome::Completed,
        measured: Some(Measured {
            seconds: 10.0,
            counts: CountsRecord { operations, events: operations, ..CountsRecord::default() },
            due: None,
            latency: LatencyRecord { histogram: latency.histogram, exact: None },
        }),
        ..TrialRecord::default()
    }
}

/// The values of samples as text, by name and labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), String>;

/// Parses a text by the part of OpenMetrics's grammar that gauges need. The test fails if the text does not follow
/// this part.
fn parse(text: &str) -> Samples {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF and a line feed");
    let (mut samples, mut families) = (Samples::new(), BTreeSet::new());
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        let (family, help) = line.strip_prefix("# HELP ").unwrap().split_once(' ').unwrap();
        assert!(is_name(family) && families.insert(family), "{family} is a name and there once");
        assert!(help.ends_with('.') && !help.contains(['\\', '"']), "{help}");
        assert_eq!(lines.next(), Some(&*format!("# TYPE {family} gauge")));
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let (name, labels, value) = sample(line);
            assert_eq!(name, family);
            let before = samples.insert((name, labels), value);
            assert_eq!(before, None, "{line} is there twice");
        }
    }
    samples
}

fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.bytes().next().is_some_and(is_first)
        && name.bytes().all(|byte| is_first(byte) || byte.is_ascii_digit())
}

/// Parses a sample: `name{label="value",…} 1.5`.
fn sample(line: &str) -> (String, BTreeMap<String, String>, String) {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let (value, after) = quoted(after);
            assert_eq!(labels.insert(label.to_owned(), value), None, "{line}");
            if let Some(more) = after.strip_prefix(',') {
                rest = more;
            } else {
                rest = after.strip_prefix('}').unwrap();
                break;
            }
        }
    }
    let number = rest.strip_prefix(' ').unwrap();
    if !["+Inf", "-Inf", "NaN"].contains(&number) {
        assert!(number.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)), "{line}");
        assert!(number.parse::<f64>().is_ok(), "{line}");
    }
    (name.to_owned(), labels, number.to_owned())
}

/// Returns the value up to its closing quote, and the text after the quote.
fn quoted(text: &str) -> (String, &str) {
    let (mut value, mut letters) = (String::new(), text.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match letters.next().unwrap().1 {
                'n' => '\n',
                escaped @ ('\\' | '"') => escaped,
                other => panic!("\\{other} is no escape"),
            }),
            '\n' => panic!("a line feed is escaped"),
            other => value.push(other),
        }
    }
    panic!("{text} has no closing quote")
}

/// Returns the value of the one sample of a family that has at least these labels. If there is not exactly one such
/// sample, the test fails.
#[track_caller]
fn value<'a>(samples: &'a Samples, name: &str, labels: &[(&str, &str)]) -> &'a str {
    let has = |of: &BTreeMap<String, String>| {
        labels.iter().all(|(label, value)| of.get(*label).is_some_and(|known| known == value))
    };
    let found: Vec<&str> = samples
        .iter()
        .filter(|((of, labels), _)| of == name && has(labels))
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
    found[0]
}

#[test]
fn the_latest_run_of_each_plan_has_its_figures() {
    let mut results = Results::new();
    results.add("nightly", 1_000, false);
    results.add("nightly", 2_000, false);
    results.add("other", 500, false);
    let samples = results.metrics();
    let of = |name: &str, labels: &[(&str, &str)]| value(&samples, name, labels);
    assert_eq!(of("dyno_runs", &[("state", "finished")]), "3");
    assert_eq!(of("dyno_run_number", &[("plan", "nightly")]), "2");
    assert_eq!(of("dyno_run_state", &[("plan", "nightly"), ("state", "finished")]), "1");
    assert_eq!(of("dyno_run_state", &[("plan", "nightly"), ("state", "killed")]), "0");
    assert_eq!(of("dyno_run_trials", &[("plan", "other"), ("outcome", "completed")]), "16");
    assert_eq!(of("dyno_run_end_timestamp_seconds", &[("plan", "nightly")]), "3.5");
    let new = [("plan", "nightly"), ("system", "new"), ("step", "point"), ("clients", "4")];
    let number = |name: &str, labels: &[(&str, &str)]| of(name, labels).parse::<f64>().unwrap();
    assert!((number("dyno_test_operations_per_second", &new) - 900.1).abs() < 0.2);
    let p99 = [&new[..], &[("percentile", "99")]].concat();
    assert!((number("dyno_test_latency_seconds", &p99) - 0.002).abs() < 1e-5);
    let [low, ratio, high] =
        ["dyno_test_ratio_low", "dyno_test_ratio", "dyno_test_ratio_high"].map(|name| number(name, &new));
    assert!(low <= ratio && ratio <= high && (0.89..0.91).contains(&ratio), "{low} {ratio} {high}");
    assert_eq!(
        of("dyno_test_verdict", &[&new[..], &[("base", "old"), ("verdict", "regressed")]].concat()),
        "1"
    );
    assert_eq!(of("dyno_gate", &[("plan", "nightly"), ("outcome", "some_regressed")]), "1");
    assert_eq!(of("dyno_tests_left_out", &[]), "0");
}

#[test]
fn a_run_in_progress_has_its_progress_and_the_figures_of_the_one_before() {
    let mut results = Results::new();
    results.add(ODD, 1_000, false);
    results.add(ODD, 2_000, true);
    let file = LiveFile::beside(results.store.path());
    let mut live = Live { ended: 3, of: 12, seconds_left: Some(7.5), ..Live::default() };
    let doing = LiveTrial {
        step: "point".to_owned(),
        system: "new".to_owned(),
        clients: 4,
        round: 1,
        operation: "query".to_owned(),
    };
    live.begin(doing, Vec::new());
    live.seconds.push(450.5, [Some(1000), None, Some(3000)]);
    file.write(&live);
    let samples = results.metrics();
    // Control characters of a name are escaped as for a terminal.
    let plan = "a \"plan\" \\ of\\nmine";
    let of = |name: &str, more: &[(&str, &str)]| value(&samples, name, &[&[("plan", plan)], more].concat());
    assert_eq!((of("dyno_run_number", &[]), of("dyno_test_run_number", &[])), ("2", "1"));
    assert_eq!(of("dyno_run_state", &[("state", "running")]), "1");
    assert_eq!(of("dyno_progress_trials", &[("state", "all")]), "12");
    assert_eq!(of("dyno_progress_left_seconds", &[]), "7.5");
    assert_eq!(of("dyno_progress_round", &[("system", "new"), ("clients", "4")]), "2");
    assert_eq!(of("dyno_progress_operations_per_second", &[]), "450.5");
    assert_eq!(of("dyno_progress_latency_seconds", &[("percentile", "99")]), "0.003");
    assert!(!samples.keys().any(|(name, _)| name == "dyno_run_end_timestamp_seconds"));
}

#[test]
fn figures_are_analysed_once_and_forgotten_with_their_run() {
    let mut results = Results::new();
    results.add("nightly", 1_000, false);
    let path = results.store.path().to_owned();
    let mut metrics = Metrics::new(&path);
    let first = metrics.text().unwrap();
    // For the second text, only the list of runs is read again. The trials are not read, because their figures are
    // cached.
    results.store.connection().execute("DELETE FROM trial WHERE round = 0 AND system_id = 'x'", []).unwrap();
    assert_eq!(metrics.text().unwrap(), first);
    assert_eq!(metrics.kept.len(), 1);
    results.add("nightly", 2_000, false);
    assert_ne!(metrics.text().unwrap(), first);
    assert_eq!(metrics.kept.len(), 1);
}

#[test]
fn plans_are_bounded_and_comparisons_of_searches_are_none() {
    let mut results = Results::new();
    for plan in 0..PLANS_MAX + 2 {
        let record = RunRecord {
            plan_name: format!("plan{plan}"),
            started_at_ms: plan as i64,
            ..RunRecord::default()
        };
        results.store.create_run(&record).unwrap();
    }
    let search = SearchRecord {
        question: SearchQuestion::Tuning { tests: Vec::new(), stage: None, size: None },
        sides: [SearchSide::default(), SearchSide::default()],
        steps: Vec::new(),
        rounds: 1,
        files_hash: 0,
    };
    let record = RunRecord { plan_name: "bisect-x".to_owned(), search: Some(search), ..RunRecord::default() };
    results.add_with(&RunRecord { started_at_ms: 1_000_000, ..record }, false);
    let samples = results.metrics();
    let plans: Vec<&str> = samples
        .keys()
        .filter(|(name, _)| name == "dyno_run_number")
        .map(|(_, labels)| labels["plan"].as_str())
        .collect();
    assert_eq!(plans.len(), PLANS_MAX);
    assert!(!plans.contains(&"plan0") && plans.contains(&"plan51") && !plans.contains(&"bisect-x"));
    assert_eq!(value(&samples, "dyno_runs", &[("state", "finished")]), "1");
}

/// Names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("dyno_")).map(str::to_owned).collect()
}

#[test]
fn the_documentation_lists_each_metric_and_the_dashboard_shows_no_others() {
    let mut results = Results::new();
    results.add("other", 500, false);
    results.add("nightly", 1_000, false);
    results.add("nightly", 2_000, true);
    let mut live = Live { seconds_left: Some(1.0), ..Live::default() };
    let doing = LiveTrial {
        step: "point".to_owned(),
        system: "new".to_owned(),
        clients: 4,
        round: 0,
        operation: "query".to_owned(),
    };
    live.begin(doing, Vec::new());
    live.seconds.push(1.0, [Some(1), Some(1), Some(1)]);
    let file = LiveFile::beside(results.store.path());
    file.write(&live);
    let written: BTreeSet<String> = results.metrics().into_keys().map(|(name, _)| name).collect();
    let documented = names(include_str!("../../../../docs/do/monitoring.md"));
    let missing: Vec<_> = written.symmetric_difference(&documented).collect();
    assert!(missing.is_empty(), "docs/do/monitoring.md and /metrics differ: {missing:?}");

    let text = include_str!("../../../../packaging/grafana/dyno.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let expressions = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let shown: BTreeSet<String> =
        expressions.flat_map(|target| names(target["expr"].as_str().unwrap())).collect();
    assert!(shown.len() > 8 && shown.is_subset(&written), "{:?}", shown.difference(&written));
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
}
