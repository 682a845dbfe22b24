//! A small results file, as a run of two systems writes it.

use std::fs;

use dyno_store::{
    AttemptRecord, ClaimRecord, CounterRecord, Counts, CrashRecord, Ending, InstanceRecord, Measured,
    Outcome, Phase, RunRecord, SampleRecord, SliceRecord, StackProfile, StackRecord, StepRecord, Store,
    SystemRecord, TrialRecord, Usage, latency_record,
};
use serde_json::json;

/// At least the columns of the widest table.
pub(crate) const COLUMNS_MAX: u8 = 64;

const SYSTEMS: [&str; 2] = ["old", "new"];
const CLIENTS: [u32; 3] = [1, 2, 8];
const ROUNDS: u32 = 6;
const STARTED_AT_MS: i64 = 1_795_289_000_000;

/// Its bytes.
pub(crate) fn results_file() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder for a results file");
    let path = folder.path().join("dyno.db");
    let mut store = Store::open(&path).expect("a results file");
    fill(&mut store).expect("records are stored");
    // What is still in the log comes into the file.
    drop(store);
    fs::read(&path).expect("the file is there")
}

fn fill(store: &mut Store) -> Result<(), dyno_store::StoreError> {
    let run = store.begin_run(&run(), &[step("load", 0), step("reads", 1)], &SYSTEMS.map(system))?;
    for round in 0..ROUNDS {
        for system in SYSTEMS {
            store.put_instance(run, &instance(system, round))?;
            for (position, clients) in (0..).zip(CLIENTS) {
                store.commit_trial(run, &trial(system, round, clients, position))?;
            }
        }
    }
    store.commit_trial(run, &failed())?;
    for loss in [Some("the node failed".to_owned()), None] {
        store.put_attempt(run, &attempt(loss))?;
    }
    store.put_crash_test(run, &crash_test())?;
    store.finish_run(run, Ending::Finished, STARTED_AT_MS + 60_000)
}

fn run() -> RunRecord {
    let claim = ClaimRecord {
        id: "faster".to_owned(),
        expression: "ratio(new, old, throughput, reads, 8) > 1.1".to_owned(),
        says: "the new one is faster".to_owned(),
        published: Some(1.2),
        source: None,
    };
    RunRecord {
        plan_name: "small".to_owned(),
        plan_title: "A small file".to_owned(),
        scale: 1.0,
        started_at_ms: STARTED_AT_MS,
        host: json!({ "cpus": 2, "memory_bytes": 1 << 30, "kernel": "6.18" }),
        claims: vec![claim],
        rounds: ROUNDS,
        looks: 1,
        ..RunRecord::default()
    }
}

fn system(id: &str) -> SystemRecord {
    SystemRecord {
        id: id.to_owned(),
        name: "sqlite".to_owned(),
        position: u32::from(id != SYSTEMS[0]),
        is_base: id == SYSTEMS[0],
        requested_settings: json!({ "journal_mode": "WAL" }),
        variables: vec![("journal_mode".to_owned(), "wal".to_owned())],
        confinement: Some(json!({ "memory_bytes": 1 << 29 })),
        dollars_per_hour: Some(0.1),
        ..SystemRecord::default()
    }
}

fn step(id: &str, position: u32) -> StepRecord {
    StepRecord {
        id: id.to_owned(),
        group: "all".to_owned(),
        position,
        workload: "oltp_point_select".to_owned(),
        command: "run".to_owned(),
        clients: CLIENTS.to_vec(),
        rounds: ROUNDS,
        seconds: Some(2.0),
        options: json!({ "tables": 1 }),
        ..StepRecord::default()
    }
}

fn instance(system: &str, round: u32) -> InstanceRecord {
    InstanceRecord {
        system_id: system.to_owned(),
        round,
        started_at_ms: STARTED_AT_MS,
        is_fresh: true,
        start_seconds: 0.5,
        warm_seconds: 0.1,
        settle_seconds: 1.0,
    }
}

fn trial(system: &str, round: u32, clients: u32, position: u32) -> TrialRecord {
    let rate = 1000.0 * f64::from(clients) * if system == SYSTEMS[0] { 1.0 } else { 1.1 };
    let slice = |cycle: u32| SliceRecord {
        cycle,
        started_us: u64::from(cycle) * 50_000,
        seconds: 0.025,
        operations: rate * 0.025 * (1.0 + 0.01 * f64::from((cycle + round) % 3)),
    };
    TrialRecord {
        system_id: system.to_owned(),
        step_id: "reads".to_owned(),
        clients,
        round,
        position,
        started_at_ms: STARTED_AT_MS + i64::from(round),
        measured: Some(measured(rate, 2.0)),
        usage: Usage {
            server_user_cpu_us: Some(900_000),
            server_system_cpu_us: Some(100_000),
            client_user_cpu_us: Some(300_000),
            host_user_cpu_us: Some(2_000_000),
            host_idle_cpu_us: Some(2_000_000),
            device_writes: Some(100),
            ..Usage::default()
        },
        lead_seconds: Some(0.005),
        slices: (0..8).map(slice).collect(),
        counters: vec![CounterRecord {
            name: "pages_read".to_owned(),
            is_gauge: false,
            first: 1.0,
            last: 9.0,
            values: vec![4.0, f64::NAN],
        }],
        stacks: Some(stacks(round)),
        samples: (0..2).map(|number| sample(number, rate)).collect(),
        ..TrialRecord::default()
    }
}

fn attempt(loss: Option<String>) -> AttemptRecord {
    AttemptRecord {
        round: 0,
        node: Some("n1".to_owned()),
        host: loss.is_none().then(|| json!({ "hostname": "n1", "cpus": 2 })),
        ended_at_ms: STARTED_AT_MS + 30_000,
        loss,
    }
}

fn crash_test() -> CrashRecord {
    CrashRecord {
        system_id: "new".to_owned(),
        kind: "process".to_owned(),
        promise: "no acknowledged commit is lost".to_owned(),
        clients: 2,
        crashes: 3,
        acknowledged: 300,
        lost: 1,
        lost_age_ms_max: Some(3.0),
        recovery_ms_max: Some(900.0),
        verdict: "broken".to_owned(),
        findings: vec!["crash 2: transaction 7 of client 1 is gone".to_owned()],
        ..CrashRecord::default()
    }
}

fn stacks(round: u32) -> StackProfile {
    let stack = |function: &str, count: u32| StackRecord {
        thread_kind: "connection".to_owned(),
        is_idle: false,
        function: function.to_owned(),
        frames: format!("handle_one_connection;{function}"),
        count,
    };
    StackProfile {
        seconds: 2.0,
        operations: 900,
        samples: 20,
        sampler: "eu-stack".to_owned(),
        sample_ms_median: 9.5,
        unnamed_share: 0.125,
        ended_early: None,
        stacks: vec![stack("lock_wait", 17 + round), stack("row_search", 3)],
    }
}

fn failed() -> TrialRecord {
    let outcome = Outcome::Failed { message: "the server died".to_owned(), log_tail: "killed".to_owned() };
    TrialRecord { outcome, measured: None, ..trial(SYSTEMS[0], ROUNDS, 1, 99) }
}

fn sample(number: u32, rate: f64) -> SampleRecord {
    SampleRecord {
        number,
        phase: Phase::Measure,
        measured: measured(rate, 1.0),
        usage: Usage { server_user_cpu_us: Some(450_000), ..Usage::default() },
    }
}

fn measured(rate: f64, seconds: f64) -> Measured {
    let events = (rate * seconds) as u64;
    let latency = latency_record((0..events.min(50)).map(|event| 400 + 37 * event));
    let counts = Counts { operations: events, events, reads: events, ..Counts::default() };
    Measured { seconds, counts, due: None, latency }
}
