//! A results file for the tests.

use dyno_store::{
    Allocation, CounterRecord, CountsRecord, HostRecord, InstanceRecord, LatencyRecord, Measured, Phase,
    RunId, RunRecord, SampleRecord, SliceRecord, StackProfile, StackRecord, StepRecord, Store, SystemRecord,
    TrialRecord, Usage,
};
use serde_json::json;
use tempfile::TempDir;

/// A text with every character that a format quotes.
pub(super) const NASTY: &str = "a \"quoted\", line\nand more";

/// A results file in a temporary folder, with one run.
pub(super) struct Results {
    pub(super) folder: TempDir,
    pub(super) store: Store,
}

impl Results {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("dyno.db")).unwrap();
        let mut results = Self { folder, store };
        results.add_run(1);
        results
    }

    /// Adds a run with one or two rows in each table.
    pub(super) fn add_run(&mut self, started_at_ms: i64) -> RunId {
        let run = RunRecord {
            plan_title: NASTY.to_owned(),
            seed: u64::MAX,
            scale: 0.5,
            started_at_ms,
            host: HostRecord::default(),
            claims: vec![dyno_store::ClaimRecord { id: "faster".to_owned(), ..Default::default() }],
            ..RunRecord::default()
        };
        let id = self.store.create_run(&run).unwrap();
        self.store.put_system(id, &system("old", true, ("nasty", NASTY))).unwrap();
        self.store.put_system(id, &system("new", false, ("empty", ""))).unwrap();
        let step = StepRecord { id: "reads".to_owned(), options: json!({}), ..StepRecord::default() };
        self.store.add_step(id, &step).unwrap();
        let instance =
            InstanceRecord { system_id: "old".to_owned(), start_seconds: 0.75, ..InstanceRecord::default() };
        self.store.put_instance(id, &InstanceRecord { is_fresh: true, ..instance }).unwrap();
        self.store.put_allocation(id, &Allocation { rounds: 6, ..Allocation::default() }).unwrap();
        self.store.commit_trial(id, &trial(0, 2)).unwrap();
        id
    }

    /// Adds a trial of `seconds` seconds to the first run.
    pub(super) fn add_samples(&mut self, seconds: u32) {
        self.store.commit_trial(RunId(1), &trial(1, seconds)).unwrap();
    }
}

fn system(id: &str, is_base: bool, (name, value): (&str, &str)) -> SystemRecord {
    SystemRecord {
        id: id.to_owned(),
        is_base,
        position: u32::from(!is_base),
        requested_settings: json!({}),
        variables: vec![(name.to_owned(), value.to_owned())],
        ..SystemRecord::default()
    }
}

fn slice(cycle: u32) -> SliceRecord {
    SliceRecord { cycle, started_us: u64::from(cycle) * 200_000, seconds: 0.1, operations: 12.0 }
}

fn trial(number: u32, seconds: u32) -> TrialRecord {
    let measured = || Measured {
        seconds: 1.0,
        counts: CountsRecord::default(),
        due: None,
        latency: LatencyRecord { histogram: vec![0, 1, 2, 255], exact: None },
    };
    let sample = |number| SampleRecord {
        number,
        phase: Phase::Measure,
        measured: measured(),
        usage: Usage::default(),
    };
    let counter = |name: &str, is_gauge, first, last, values: &[f64]| CounterRecord {
        name: name.to_owned(),
        is_gauge,
        first,
        last,
        values: values.to_vec(),
    };
    TrialRecord {
        system_id: "old".to_owned(),
        step_id: "reads".to_owned(),
        round: number,
        rest_cpu_us: Some(1_500),
        thaw_us: Some(400),
        lead_seconds: Some(0.01),
        slices: (0..2).map(slice).collect(),
        measured: Some(measured()),
        counters: vec![
            counter("Com_select", false, 1.0, 9.0, &[5.0, 9.0]),
            counter("Uptime", false, 1.0, 3.0, &[]),
            counter("dirty", true, 0.25, 1.5, &[0.5, f64::NAN]),
        ],
        stacks: Some(stacks()),
        samples: (0..seconds).map(sample).collect(),
        ..TrialRecord::default()
    }
}

fn stacks() -> StackProfile {
    let stack = StackRecord {
        thread_kind: "connection".to_owned(),
        is_idle: true,
        function: "my_net_read".to_owned(),
        frames: "handle_one_connection;my_net_read;poll".to_owned(),
        count: 3,
    };
    StackProfile { seconds: 2.0, operations: 8, samples: 3, stacks: vec![stack], ..StackProfile::default() }
}
