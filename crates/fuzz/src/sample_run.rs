//! A small results file, like one that a run of two systems writes.

use std::fs;

use dyno_store::{
    Allocation, AttemptRecord, CapacityRecord, ClaimRecord, Configuration, CounterRecord, CountsRecord,
    CrashRecord, CrashVerdict, DigestRecord, DriverLatency, DriverRecord, Ending, FactorLevel, FailureKind,
    FindRecord, GapsRecord, HostRecord, InstanceRecord, JoinRecord, LadderRecord, LatenessRecord,
    LimitsRecord, Measured, Memory, NetworkRecord, Outcome, Phase, Price, PricedInstance, PricedVolume,
    ProbeRecord, QueryAnswer, QueryPlan, ReplayRecord, ResumptionRecord, RunRecord, SampleRecord,
    SearchQuestion, SearchRecord, SearchSide, SearchSize, SearchStep, SliceRecord, StackProfile, StackRecord,
    StatementPlan, StepRecord, Store, SystemRecord, TrialRecord, UnmetLimit, Usage, latency_bytes,
    latency_record,
};
use serde_json::json;

const SYSTEMS: [&str; 2] = ["old", "new"];
const CLIENTS: [u32; 3] = [1, 2, 8];
const ROUNDS: u32 = 6;
const STARTED_AT_MS: i64 = 1_795_289_000_000;

/// Returns the bytes of the sample results file.
pub(crate) fn results_file() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder for a results file");
    let path = folder.path().join("dyno.db");
    let mut store = Store::open(&path).expect("a results file");
    fill(&mut store).expect("records are stored");
    // Closing the store moves the write-ahead log into the file.
    drop(store);
    fs::read(&path).expect("the file is there")
}

fn fill(store: &mut Store) -> Result<(), dyno_store::StoreError> {
    let steps = [step("load", 0), step("reads", 1), search(), background()];
    let run = store.begin_run(&run(), &steps, &SYSTEMS.map(system))?;
    store.put_audit(
        run,
        &json!({ "findings": [{ "rule": "durability", "systems": ["new"], "words": "x" }] }),
    )?;
    store.put_allocation(run, &Allocation { rounds: ROUNDS, ..Allocation::default() })?;
    for round in 0..ROUNDS {
        for system in SYSTEMS {
            store.put_instance(run, &instance(system, round))?;
            for (position, clients) in (0..).zip(CLIENTS) {
                store.commit_trial(run, &trial(system, round, clients, position))?;
            }
        }
    }
    for round in 0..2 {
        for (step, record) in [("search", searched(round)), ("writes", joined(round))] {
            store.commit_trial(run, &TrialRecord { step_id: step.to_owned(), ..record })?;
        }
    }
    store.commit_trial(run, &failed())?;
    store.finish_run(run, Ending::Interrupted, STARTED_AT_MS + 30_000)?;
    store.resume_run(run, &resumption())?;
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
        host: HostRecord {
            cpus: Some(2),
            memory_bytes: Some(1 << 30),
            kernel: Some("6.18".to_owned()),
            ..HostRecord::default()
        },
        claims: vec![claim],
        ladders: vec![LadderRecord {
            id: "versions".to_owned(),
            systems: SYSTEMS.map(str::to_owned).to_vec(),
        }],
        counters: vec!["pages_read".to_owned()],
        rounds: ROUNDS,
        looks: 1,
        search: Some(comparison()),
        ..RunRecord::default()
    }
}

fn comparison() -> SearchRecord {
    let side = |system: &str| SearchSide {
        system: system.to_owned(),
        settings: [("cache_size".to_owned(), Some("100".to_owned()))].into(),
        ..SearchSide::default()
    };
    SearchRecord {
        question: SearchQuestion::Tuning {
            tests: vec!["reads".to_owned()],
            stage: Some(1),
            size: Some(SearchSize { candidates: 16, seed: 1, budget_seconds: Some(600) }),
        },
        sides: SYSTEMS.map(side),
        steps: vec![SearchStep { id: "reads".to_owned(), clients: vec![8], seconds: 0.5 }],
        rounds: ROUNDS,
        files_hash: 7,
    }
}

fn system(id: &str) -> SystemRecord {
    SystemRecord {
        id: id.to_owned(),
        name: "sqlite".to_owned(),
        position: u32::from(id != SYSTEMS[0]),
        is_base: id == SYSTEMS[0],
        is_anchor: id == SYSTEMS[0],
        requested_settings: json!({ "journal_mode": "WAL" }),
        variables: vec![("journal_mode".to_owned(), "wal".to_owned())],
        confinement: Some(json!({ "memory_bytes": 1 << 29 })),
        dollars_per_hour: (id == SYSTEMS[0]).then_some(0.1),
        price: (id != SYSTEMS[0]).then(price),
        engine_version: Some("3.54".to_owned()),
        configuration: Some(Configuration {
            sweep: "journals".to_owned(),
            levels: vec![FactorLevel { factor: "journal_mode".to_owned(), level: id.to_owned() }],
        }),
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

fn price() -> Price {
    Price {
        list: "aws".to_owned(),
        date: "2018-08-01".to_owned(),
        source: "a post".to_owned(),
        instance: Some(PricedInstance {
            name: "c5.large".to_owned(),
            kind: Some("c5".to_owned()),
            cpus: 2,
            memory_bytes: 1 << 32,
            dollars_per_year: 744.6,
        }),
        volume: Some(PricedVolume {
            name: "gp2".to_owned(),
            kind: None,
            size_bytes: 1 << 37,
            iops: 3000,
            storage_dollars_per_year: 120.0,
            iops_dollars_per_year: 0.5,
        }),
    }
}

/// A step that searches for the highest rate within a latency limit.
fn search() -> StepRecord {
    StepRecord {
        find: Some(FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 }),
        clients: vec![8],
        ..step("search", 2)
    }
}

/// A background load that runs beside the step `reads`. Its clients join one after the other.
fn background() -> StepRecord {
    let joins = vec![JoinRecord { at_seconds: 0.5, clients: 2 }, JoinRecord { at_seconds: 1.0, clients: 4 }];
    StepRecord { background_of: Some("reads".to_owned()), joins, ..step("writes", 3) }
}

fn searched(round: u32) -> TrialRecord {
    let probe = |rate_per_second, keeps_limit| ProbeRecord {
        rate_per_second,
        seconds: 1.0,
        due: 1000,
        latency_ms: Some(4.0),
        backlog: 2,
        is_sustained: keeps_limit,
        keeps_limit,
    };
    TrialRecord {
        capacity: Some(CapacityRecord { per_second: 900.0, low_per_second: 880.0, high_per_second: 920.0 }),
        probes: vec![probe(900.0, true), probe(1000.0, false)],
        backlog: Some(3),
        unfinished: Some(1),
        latency_censored: Some(latency_bytes([400_000; 4])),
        ..trial(SYSTEMS[1], round, 8, 50 + round)
    }
}

fn joined(round: u32) -> TrialRecord {
    TrialRecord {
        drivers: vec![driver("ssh://a"), driver("ssh://b")],
        ..trial(SYSTEMS[1], round, 8, 60 + round)
    }
}

fn driver(host: &str) -> DriverRecord {
    DriverRecord {
        host: host.to_owned(),
        clients: 4,
        seconds: 2.0,
        operations: 900,
        events: 900,
        latency: Some(DriverLatency { p50_us: 400.0, p95_us: 700.0, p99_us: 900.0, max_us: 1200.0 }),
        gap_longest_seconds: Some(0.1),
        began_after_seconds: Some(0.01),
        cpu_us: 10_000,
        threads: Some(2),
        memory_peak_bytes: 1 << 24,
        network: Some(NetworkRecord { round_trip_us: 120.0, bytes_per_second: Some(1e8) }),
        ..DriverRecord::default()
    }
}

fn resumption() -> ResumptionRecord {
    ResumptionRecord {
        resumed_at_ms: STARTED_AT_MS + 40_000,
        host: HostRecord { cpus: Some(2), ..HostRecord::default() },
        differences: vec!["the kernel was 6.17".to_owned()],
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
        memory: Memory {
            server_memory_peak_bytes: Some(1 << 26),
            server_memory_mean_bytes: Some(1 << 25),
            client_memory_peak_bytes: Some(1 << 24),
        },
        rest_cpu_us: Some(7000),
        thaw_us: Some(900),
        warmup_seconds: Some(1.5),
        disk_bytes_after: Some(1 << 28),
        gaps: Some(GapsRecord { longest_seconds: 0.3, longest_began_seconds: Some(0.5), last_seconds: 0.1 }),
        error_codes: [("1213".to_owned(), 2)].into(),
        loaded_again: vec!["load".to_owned()],
        limits: Some(limits()),
        drain: Some(json!({ "seconds": 1.5 })),
        query_plan: Some(QueryPlan { statement: "SELECT 1".to_owned(), text: "scan [rows 5]".to_owned() }),
        query_answer: Some(QueryAnswer::of(&["1|x".to_owned()])),
        statement_plans: vec![
            StatementPlan { statement: "SELECT ?".to_owned(), plan: Ok(format!("scan t {system} [rows 5]")) },
            StatementPlan { statement: "UPDATE ?".to_owned(), plan: Err("refused".to_owned()) },
        ],
        replay: Some(replay()),
        replayed: vec![replayed("reads", rate), replayed("writes", 2.0 * rate)],
        samples: (0..2).map(|number| sample(number, rate)).collect(),
        ..TrialRecord::default()
    }
}

fn replay() -> ReplayRecord {
    ReplayRecord {
        sessions: 3,
        sessions_refused: 1,
        sessions_lost: 1,
        out_of_order: 1,
        not_sent: [("server".to_owned(), 2)].into(),
        late: Some(LatenessRecord { p50_us: 20.0, p99_us: 300.0, max_us: 900.0 }),
    }
}

fn replayed(digest: &str, rate: f64) -> DigestRecord {
    DigestRecord {
        digest: digest.to_owned(),
        statement: format!("SELECT {digest} FROM t WHERE id = ?"),
        kind: "read".to_owned(),
        statements: 9,
        rows: 8,
        rows_affected: 0,
        rows_examined: Some(900),
        error_codes: [("1205".to_owned(), 1)].into(),
        answers: Some(7),
        latency: latency_record([(1e6 / rate) as u64; 8]),
    }
}

fn limits() -> LimitsRecord {
    LimitsRecord {
        in_force: json!({ "memory_bytes": 1 << 29, "client_cpus": [1], "pinned_server_threads": [0] }),
        differences: vec![UnmetLimit {
            limit: "memory".to_owned(),
            asked: "1G".to_owned(),
            found: "512M".to_owned(),
        }],
        not_limited: vec!["swap".to_owned()],
    }
}

fn attempt(loss: Option<String>) -> AttemptRecord {
    AttemptRecord {
        round: 0,
        node: Some("n1".to_owned()),
        host: loss.is_none().then(|| HostRecord {
            hostname: Some("n1".to_owned()),
            cpus: Some(2),
            ..HostRecord::default()
        }),
        ended_at_ms: STARTED_AT_MS + 30_000,
        loss,
    }
}

fn crash_test() -> CrashRecord {
    CrashRecord {
        system_id: "new".to_owned(),
        promise: "no acknowledged commit is lost".to_owned(),
        clients: 2,
        crashes: 3,
        acknowledged: 300,
        lost: 1,
        lost_age_ms_max: Some(3.0),
        recovery_ms_max: Some(900.0),
        verdict: CrashVerdict::Broken,
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
    let outcome = Outcome::Failed {
        kind: FailureKind::Start,
        message: "the server died".to_owned(),
        log_tail: "killed".to_owned(),
    };
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
    let counts = CountsRecord { operations: events, events, reads: events, ..CountsRecord::default() };
    Measured { seconds, counts, due: None, latency }
}
