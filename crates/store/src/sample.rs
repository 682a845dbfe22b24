//! Sample records for tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use crate::file::open::Store;
use crate::record::RunId;
use crate::record::run::host::HostRecord;
use crate::record::run::price::{Price, PricedInstance};
use crate::record::trial::capacity::FindRecord;
use crate::record::trial::columns::{CountsRecord, Memory, Neighbours, Usage};
use crate::record::trial::latency::{latency_bytes, latency_record};
use crate::record::trial::stacks::{StackProfile, StackRecord};
use crate::record::{
    ClaimRecord, Configuration, Correction, FactorLevel, FailureKind, GapsRecord, InstanceRecord, JoinRecord,
    LadderRecord, LimitsRecord, Measured, Operation, Origin, Outcome, Phase, RunRecord, SampleRecord,
    SliceRecord, StepRecord, SystemRecord, TrialRecord, UnmetLimit,
};

/// A results file in a temporary folder, with a run of two systems and one step.
pub(crate) struct File {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) store: Store,
    pub(crate) run: RunId,
}

impl File {
    pub(crate) fn new() -> Self {
        Self::with(&run(), &[system("old", true), system("new", false)])
    }

    /// A file with a run of these records.
    pub(crate) fn with(run: &RunRecord, systems: &[SystemRecord]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dyno.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin_run(run, &[step()], systems).unwrap();
        Self { folder, path, store, run }
    }

    pub(crate) fn sql<T: rusqlite::types::FromSql>(&self, sql: &str) -> Vec<T> {
        let mut statement = self.store.connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }
}

pub(crate) fn run() -> RunRecord {
    RunRecord {
        plan_name: "first-look".to_owned(),
        plan_title: "A first look".to_owned(),
        plan_text: "name = \"first-look\"\n".to_owned(),
        dyno_version: "0.1.0".to_owned(),
        seed: u64::MAX,
        scale: 0.5,
        started_at_ms: 1_795_289_000_000,
        host: HostRecord { cpus: Some(2), ..HostRecord::default() },
        command_line: "dyno run first-look".to_owned(),
        claims: vec![ClaimRecord {
            id: "faster".to_owned(),
            expression: "ratio(new, old, tps) > 1".to_owned(),
            says: "The new one is faster".to_owned(),
            published: Some(1.25),
            source: Some("a post".to_owned()),
        }],
        rounds: 3,
        looks: 2,
        correction: Correction::Fdr,
        counts_disturbed: true,
        ladders: vec![LadderRecord {
            id: "engines".to_owned(),
            systems: vec!["old".to_owned(), "new".to_owned()],
        }],
        counters: Vec::new(),
        spread_id: None,
        search: None,
    }
}

pub(crate) fn system(id: &str, is_base: bool) -> SystemRecord {
    SystemRecord {
        id: id.to_owned(),
        name: "mariadb@10.11/innodb".to_owned(),
        engine_version: Some("10.11.14-MariaDB".to_owned()),
        position: u32::from(!is_base),
        is_base,
        is_anchor: is_base,
        requested_settings: json!({ "innodb_buffer_pool_size": "256M" }),
        variables: vec![
            ("autocommit".to_owned(), "ON".to_owned()),
            ("sync_binlog".to_owned(), "0".to_owned()),
        ],
        origin: Origin::Basedir,
        control_of: (!is_base).then(|| "old".to_owned()),
        profile: Some("safe".to_owned()),
        confinement: Some(json!({ "iops": 500 })),
        dollars_per_hour: None,
        price: Some(Price {
            list: "aws".to_owned(),
            date: "2018-08-01".to_owned(),
            source: "a post".to_owned(),
            instance: Some(PricedInstance {
                name: "c5".to_owned(),
                cpus: 36,
                dollars_per_year: 7881.5,
                ..PricedInstance::default()
            }),
            volume: None,
        }),
        encryption: Some("TLS 1.3, TLS_AES_256_GCM_SHA384".to_owned()),
        image: Some("localhost/mariadb:10.11@sha256:0123".to_owned()),
        configuration: Some(Configuration {
            sweep: "caches".to_owned(),
            levels: vec![FactorLevel { factor: "cache".to_owned(), level: "256M".to_owned() }],
        }),
    }
}

pub(crate) fn step() -> StepRecord {
    StepRecord {
        id: "point-query".to_owned(),
        group: "read-only".to_owned(),
        position: 0,
        workload: "oltp_point_select".to_owned(),
        command: "run".to_owned(),
        operation: Operation::Query,
        clients: vec![1, 4],
        rounds: 3,
        seconds: Some(10.0),
        warmup_seconds: 2.0,
        options: json!({ "skip_trx": true }),
        rate: Some("1000".to_owned()),
        find: Some(FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 }),
        background_of: Some("writes".to_owned()),
        repeats: Some("point-query".to_owned()),
        joins: vec![JoinRecord { at_seconds: 2.5, clients: 4 }],
        not_for: vec!["new".to_owned()],
    }
}

/// A completed trial of 10 s with two samples. Some of its resource usage is unknown.
pub(crate) fn trial(system: &str, number: u32, operations: u64) -> TrialRecord {
    let usage = Usage {
        server_user_cpu_us: Some(3 * operations),
        server_system_cpu_us: Some(operations),
        process_read_bytes: Some(0),
        device_flushes: None,
        ..Usage::default()
    };
    let measured = |seconds, operations| Measured {
        seconds,
        counts: CountsRecord {
            operations,
            events: operations,
            reads: operations,
            errors: 1,
            ..CountsRecord::default()
        },
        due: Some(operations + 7),
        latency: latency_record([100, 200, 300]),
    };
    let sample =
        |number, phase| SampleRecord { number, phase, measured: measured(1.0, operations / 10), usage };
    TrialRecord {
        system_id: system.to_owned(),
        step_id: "point-query".to_owned(),
        clients: 4,
        round: number,
        position: 2 * number,
        started_at_ms: 1_795_289_100_000,
        outcome: Outcome::Completed,
        measured: Some(measured(10.0, operations)),
        usage,
        memory: Memory { server_memory_peak_bytes: Some(3 << 20), ..Memory::default() },
        neighbours: Neighbours {
            watched_us: Some(10_000_000),
            watched_cpus: Some(2),
            neighbour_cpu_us: Some(300_000),
            neighbour_steal_us: None,
        },
        rest_cpu_us: Some(7),
        thaw_us: Some(3),
        lead_seconds: Some(0.01),
        warmup_seconds: Some(2.5),
        slices: vec![slice(0, operations as f64 / 2.0), slice(1, operations as f64 / 2.0)],
        disk_bytes_after: Some(1 << 30),
        backlog: Some(7),
        unfinished: Some(2),
        latency_censored: Some(latency_bytes([400_000; 9])),
        gaps: Some(GapsRecord {
            longest_seconds: 2.5,
            longest_began_seconds: (number > 0).then_some(4.0),
            last_seconds: 0.4,
        }),
        capacity: None,
        probes: Vec::new(),
        drivers: Vec::new(),
        error_codes: BTreeMap::from([("1213".to_owned(), 2)]),
        step_events: Vec::new(),
        timeline: None,
        replicas: Vec::new(),
        loaded_again: vec!["load".to_owned()],
        limits: Some(limits()),
        drain: Some(json!({ "seconds": 1.5 })),
        stacks: Some(profile()),
        query_plan: None,
        query_answer: None,
        statement_plans: Vec::new(),
        replay: None,
        replayed: Vec::new(),
        counters: Vec::new(),
        samples: vec![sample(0, Phase::Warmup), sample(1, Phase::Measure)],
    }
}

fn limits() -> LimitsRecord {
    LimitsRecord {
        in_force: json!({ "memory_bytes": 1 << 20, "write_iops": 500 }),
        differences: vec![UnmetLimit {
            limit: "memory".to_owned(),
            asked: "2M".to_owned(),
            found: "1M".to_owned(),
        }],
        not_limited: vec!["swap".to_owned()],
    }
}

fn slice(cycle: u32, operations: f64) -> SliceRecord {
    SliceRecord { cycle, started_us: u64::from(cycle) * 200_000, seconds: 5.0, operations }
}

/// An instance of a round.
pub(crate) fn instance(system: &str, round: u32) -> InstanceRecord {
    InstanceRecord {
        system_id: system.to_owned(),
        round,
        started_at_ms: 1_795_289_050_000,
        is_fresh: true,
        start_seconds: 0.7,
        warm_seconds: 0.1,
        settle_seconds: 1.25,
    }
}

/// A trial that failed before its measurement.
pub(crate) fn failed_trial(system: &str, number: u32) -> TrialRecord {
    TrialRecord {
        outcome: Outcome::Failed {
            kind: FailureKind::Start,
            message: "the server died".to_owned(),
            log_tail: "mysqld got signal 11".to_owned(),
        },
        measured: None,
        usage: Usage::default(),
        disk_bytes_after: None,
        samples: Vec::new(),
        slices: Vec::new(),
        ..trial(system, number, 0)
    }
}

/// Two stacks of connections. One of them was seen three times as often as the other.
pub(crate) fn profile() -> StackProfile {
    let stack = |function: &str, count: u32| StackRecord {
        thread_kind: "connection".to_owned(),
        is_idle: count == 1,
        function: function.to_owned(),
        frames: format!("handle_one_connection;{function};poll"),
        count,
    };
    StackProfile {
        seconds: 2.0,
        operations: 800,
        samples: 4,
        sampler: "eu-stack (elfutils) 0.188".to_owned(),
        sample_ms_median: 12.5,
        unnamed_share: 0.25,
        ended_early: Some("the process 7 has ended".to_owned()),
        stacks: vec![stack("lock_wait", 3), stack("my_net_read", 1)],
    }
}
