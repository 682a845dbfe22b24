//! Tests the isolation of real servers: which anomalies each level allows and excludes, and stale reads on replicas.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::testing::{engines, named_engines, servers};
use dyno_engine::{Family, Installation, Replication, ReplicationMode, Server};
use dyno_isolation::{
    IsolatedSystem, IsolationOptions, IsolationReport, Level, Model, Operation, Recorder, Verdict, Worker,
    isolation_test,
};
use dyno_testing::dyno_test;

fn main() -> ExitCode {
    dyno_testing::main(&[])
}

fn options(level: Level, model: Model) -> IsolationOptions {
    IsolationOptions { level, model, replication: None, clients: 6, transactions: 1500, seed: 1 }
}

fn run(installation: &Installation, system: &str, options: &IsolationOptions) -> IsolationReport {
    let folder = tempfile::tempdir().unwrap();
    let system = IsolatedSystem {
        installation: installation.clone(),
        storage_engine: system.split_once('/').map(|(_, name)| name.to_owned()),
        settings: BTreeMap::new(),
        data_root: folder.path().to_owned(),
    };
    isolation_test(&system, options, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

#[dyno_test(named_engines(&["mysql@5.6.24", "mysql@9.7.4", "mariadb@10.11", "mariadb@10.11/rocksdb"]))]
fn read_committed_is_kept(installation: &Installation, system: &str) {
    keeps(installation, system, Level::ReadCommitted);
}

#[dyno_test(named_engines(&["mysql@9.7.4", "mariadb@10.11", "postgres@18.4"]))]
fn serializable_is_kept(installation: &Installation, system: &str) {
    keeps(installation, system, Level::Serializable);
}

#[dyno_test(named_engines(&["postgres@18.4"]))]
fn repeatable_reads_are_snapshot_isolated(installation: &Installation, system: &str) {
    keeps(installation, system, Level::RepeatableRead);
}

fn keeps(installation: &Installation, system: &str, level: Level) {
    let report = run(installation, system, &options(level, level.model(installation.entry.family)));
    assert_eq!(report.verdict, Verdict::Kept, "{report:#?}");
    assert_eq!((report.committed + report.failed, report.unknown), (1500, 0));
    assert!(report.committed > 100, "{report:#?}");
}

/// A client of the server that records its transactions.
fn worker<'a>(server: &Server, process: u32, level: Level, recorder: &'a Recorder) -> Worker<'a> {
    let family = if server.access().engine == "postgres" { Family::Postgres } else { Family::Mysql };
    Worker { process, client: server.connect(Duration::from_secs(60)).unwrap(), family, level, recorder }
}

fn make_table(server: &Server) {
    server.query("CREATE TABLE isolation_list (k INT NOT NULL PRIMARY KEY, v TEXT NOT NULL)").unwrap();
}

/// Reads all lists in a separate transaction, after the transactions of the test have ended.
fn look(server: &Server, recorder: &Recorder, keys: &[u64]) {
    let reads: Vec<Operation> = keys.iter().map(|&key| Operation::Read { key }).collect();
    worker(server, 9, Level::ReadCommitted, recorder).run(&reads).unwrap();
}

fn judged(recorder: Recorder, model: Model) -> (Vec<String>, Verdict) {
    let judged = recorder.judge(model).unwrap();
    (judged.anomalies.into_iter().map(|it| it.kind).collect(), judged.verdict)
}

/// Two overlapping transactions read both lists. Then each appends to a different list.
#[dyno_test(servers(&["postgres@18.4"]))]
fn repeatable_reads_skew_writes(server: &mut Server) {
    make_table(server);
    let read = [Operation::Read { key: 1 }, Operation::Read { key: 2 }];
    for (level, is_skewed) in [(Level::RepeatableRead, true), (Level::Serializable, false)] {
        let recorder = Recorder::default();
        let key = if is_skewed { 0 } else { 10 };
        let of = |append| {
            let all = read.map(|it| match it {
                Operation::Read { key: own } => Operation::Read { key: own + key },
                append @ Operation::Append { .. } => append,
            });
            [all[0], all[1], Operation::Append { key: key + append, value: 1 }]
        };
        let mut workers = [0, 1].map(|process| worker(server, process, level, &recorder));
        let [first, second] = &mut workers;
        let mut first = first.begin(&of(1)).unwrap();
        let mut second = second.begin(&of(2)).unwrap();
        for _ in 0..3 {
            first.step();
            second.step();
        }
        first.commit().unwrap();
        second.commit().unwrap();
        drop(workers);
        look(server, &recorder, &[key + 1, key + 2]);
        let (kinds, verdict) = judged(recorder, Model::Serializable);
        if is_skewed {
            assert_eq!((kinds, verdict), (vec!["G2-item".to_owned()], Verdict::Broken));
        } else {
            assert_eq!((kinds, verdict), (Vec::new(), Verdict::Kept), "it refuses one of them");
        }
    }
}

/// Two transactions read a list. One appends and commits. Then the other appends and commits.
#[dyno_test(servers(&["mysql@9.7.4", "mariadb@10.11"]))]
fn repeatable_reads_lose_an_update(server: &mut Server) {
    make_table(server);
    let recorder = Recorder::default();
    let both = |value| [Operation::Read { key: 1 }, Operation::Append { key: 1, value }];
    let mut workers = [0, 1].map(|process| worker(server, process, Level::RepeatableRead, &recorder));
    let [first, second] = &mut workers;
    let mut first = first.begin(&both(1)).unwrap();
    let mut second = second.begin(&both(2)).unwrap();
    first.step();
    second.step();
    first.step();
    first.commit().unwrap();
    second.step();
    second.commit().unwrap();
    drop(workers);
    look(server, &recorder, &[1]);
    let (kinds, verdict) = judged(recorder, Model::RepeatableRead);
    assert!(!kinds.is_empty());
    assert_eq!(verdict, Verdict::Broken);
}

/// The replica applies received changes two seconds late, so that reads on it are stale even if the host is fast.
#[dyno_test(engines(&["mariadb@10.11", "postgres@18.4"]))]
fn reads_on_a_replica_are_stale(installation: &Installation) {
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 1, delay_seconds: 2 };
    let options = IsolationOptions {
        replication: Some(replication),
        ..options(Level::Serializable, Model::StrictSerializable)
    };
    let report = run(installation, "", &options);
    assert_eq!(report.verdict, Verdict::Broken, "{report:#?}");
    assert!(report.anomalies.iter().any(|it| it.kind.ends_with("-realtime")), "{:#?}", report.anomalies);
}
