//! Figures in the formats of other tools.

use std::collections::BTreeMap;
use std::fs;

use dyno_store::{
    CountsRecord, Ending, Measured, Operation, Outcome, RunRecord, StepRecord, SystemRecord, TrialRecord,
    latency_record,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

static STOP: AtomicBool = AtomicBool::new(false);
/// 2026-11-01T00:00:00Z, in milliseconds since 1970 UTC.
const FIRST_NIGHT_MS: i64 = 1_793_491_200_000;

/// A results file in a separate folder.
struct Results {
    folder: TempDir,
    store: Store,
}

impl Results {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("dyno.db")).unwrap();
        Self { folder, store }
    }

    /// Adds a run of one system in one test. The run has three rounds. Their rates are about `rate`, and all
    /// latencies are a millisecond.
    fn add(&mut self, plan: &str, night: i64, rate: u64) -> RunId {
        let run = self.begin(plan, night);
        for round in 0..3 {
            self.store.commit_trial(run, &trial(round, rate + u64::from(round))).unwrap();
        }
        self.store.finish_run(run, Ending::Finished, 0).unwrap();
        run
    }

    fn begin(&mut self, plan: &str, night: i64) -> RunId {
        let record = RunRecord {
            plan_name: plan.to_owned(),
            started_at_ms: FIRST_NIGHT_MS + night * 86_400_000,
            scale: 1.0,
            ..RunRecord::default()
        };
        let run = self.store.create_run(&record).unwrap();
        let system = SystemRecord {
            id: "build \"a\"".to_owned(),
            is_base: true,
            engine_version: Some(format!("8.0.{night}")),
            requested_settings: json!({}),
            ..SystemRecord::default()
        };
        self.store.put_system(run, &system).unwrap();
        let step = StepRecord {
            id: "point".to_owned(),
            operation: Operation::Query,
            clients: vec![4],
            rounds: 3,
            seconds: Some(10.0),
            options: json!({}),
            ..StepRecord::default()
        };
        self.store.add_step(run, &step).unwrap();
        run
    }

    fn export(&self, format: FigureFormat, runs: Option<Vec<RunId>>) -> Result<FiguresExported, ExportError> {
        let options = FigureOptions { format, runs, overwrite: true, stop: &STOP };
        export_figures(&self.store, &self.folder.path().join("out"), &options)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("out").join(name)).unwrap()
    }
}

fn trial(round: u32, rate: u64) -> TrialRecord {
    let measured = Measured {
        seconds: 10.0,
        counts: CountsRecord { operations: 10 * rate, events: 10 * rate, ..CountsRecord::default() },
        due: None,
        latency: latency_record((0..100).map(|_| 1000)),
    };
    TrialRecord {
        system_id: "build \"a\"".to_owned(),
        step_id: "point".to_owned(),
        clients: 4,
        round,
        outcome: Outcome::Completed,
        measured: Some(measured),
        ..TrialRecord::default()
    }
}

fn names(exported: &FiguresExported) -> Vec<&str> {
    exported.files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap()).collect()
}

#[test]
fn bencher_gets_a_file_for_each_run_in_its_own_units() {
    let mut results = Results::new();
    results.add("nightly", 1, 1000);
    results.add("a/b", 2, 900);
    let exported = results.export(FigureFormat::Bmf, None).unwrap();
    assert_eq!((names(&exported), exported.left_out.len()), (vec!["nightly-1.json", "a-b-2.json"], 0));
    let found: Value = serde_json::from_str(&results.text("nightly-1.json")).unwrap();
    let benchmark = &found["nightly/build \"a\"/point/4 clients"];
    let throughput = json!({ "value": 1001.0, "lower_value": 1000.0, "upper_value": 1002.0 });
    assert_eq!(benchmark["throughput"], throughput);
    assert_eq!(benchmark["latency"]["value"], 1_000_000.0, "nanoseconds");
    assert_eq!(benchmark.as_object().unwrap().len(), 4);
    // The file parses as the format's schema, which has three levels of maps. Their keys are the names of benchmarks,
    // of measures and of numbers.
    let all: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>> =
        serde_json::from_value(found).unwrap();
    let keys = ["value", "lower_value", "upper_value"];
    let is_metric = |it: &BTreeMap<String, f64>| {
        it.contains_key("value") && it.keys().all(|key| keys.contains(&key.as_str()))
    };
    assert!(all.values().flat_map(BTreeMap::values).all(is_metric));
}

#[test]
fn otava_gets_a_series_for_each_system_in_a_test() {
    let mut results = Results::new();
    for night in 1..=3 {
        results.add("nightly", night, 1000 + night.unsigned_abs());
    }
    let exported = results.export(FigureFormat::Otava, None).unwrap();
    assert_eq!(names(&exported), ["nightly.build--a-.point.4.csv", "otava.yaml"]);
    let csv = results.text("nightly.build--a-.point.4.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "time,run,version,throughput,p50_us,p95_us,p99_us");
    assert!(lines[1].starts_with("2026-11-02T00:00:00Z,1,\"8.0.1\",1002.0,1000.0,"), "{csv}");
    assert_eq!(lines.len(), 4);
    let configuration = results.text("otava.yaml");
    let expected = r#"tests:
  "nightly.build \"a\".point.4":
    type: csv
    file: "nightly.build--a-.point.4.csv"
    time_column: time
    attributes: [run, version]
    metrics:
      throughput: { direction: 1 }
      p50_us: { direction: -1 }
      p95_us: { direction: -1 }
      p99_us: { direction: -1 }
test_groups:
  "nightly":
    - "nightly.build \"a\".point.4"
"#;
    assert_eq!(configuration, expected);
}

#[test]
fn what_is_in_no_file_is_told() {
    let mut results = Results::new();
    let error = results.export(FigureFormat::Bmf, None).unwrap_err();
    assert!(matches!(error, ExportError::NoFigure { .. }), "{error}");
    let other = results.add("nightly", 1, 1000);
    results.store.connection().execute("UPDATE run SET scale = 2", []).unwrap();
    let empty = results.begin("nightly", 2);
    results.store.finish_run(empty, Ending::Failed, 0).unwrap();
    let kept = results.add("nightly", 3, 1000);
    let running = results.begin("nightly", 4);
    let left_out = |exported: &FiguresExported| -> Vec<(RunId, WhyLeftOut)> {
        exported.left_out.iter().map(|left| (left.run, left.why)).collect()
    };
    let exported = results.export(FigureFormat::Otava, None).unwrap();
    let mut expected = vec![
        (running, WhyLeftOut::StillRunning),
        (other, WhyLeftOut::OtherConditions),
        (empty, WhyLeftOut::NoFigure),
    ];
    assert_eq!(left_out(&exported), expected);
    let exported = results.export(FigureFormat::Bmf, None).unwrap();
    expected.remove(1);
    assert_eq!((left_out(&exported), names(&exported).len()), (expected, 2));
    let exported = results.export(FigureFormat::Bmf, Some(vec![kept])).unwrap();
    assert_eq!((names(&exported), exported.left_out.len()), (vec!["nightly-3.json"], 0));
    let error = results.export(FigureFormat::Bmf, Some(vec![RunId(9)])).unwrap_err().to_string();
    assert!(error.contains("has no run 9"), "{error}");
}

/// If a run has no latencies, the file has no column of latencies, because Otava needs a number in each row.
#[test]
fn a_column_has_a_number_in_each_row() {
    let mut results = Results::new();
    results.add("nightly", 1, 1000);
    results.add("nightly", 2, 1000);
    let erased = "UPDATE trial SET latency = x'00' WHERE run_id = 2";
    results.store.connection().execute(erased, []).unwrap();
    results.export(FigureFormat::Otava, None).unwrap();
    let csv = results.text("nightly.build--a-.point.4.csv");
    assert!(csv.starts_with("time,run,version,throughput\n") && csv.lines().count() == 3, "{csv}");
    assert!(!results.text("otava.yaml").contains("p99_us"));
}
