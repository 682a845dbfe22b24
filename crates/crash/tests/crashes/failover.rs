//! Failovers of real servers. A failover loses the transactions that no replica had received, and no others.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_crash::{CrashError, CrashReport, CrashedSystem, Failover, Verdict, failover_test};
use dyno_engine::testing::engines;
use dyno_engine::{Installation, Replication, ReplicationMode};
use dyno_settings::CrashKind;
use dyno_testing::dyno_test;

use crate::{Nobody, crash_by, options};

/// The time before the crash during which the replicas receive nothing. It is long enough for some commits, even on a
/// busy host.
const CUT_OFF: Duration = Duration::from_secs(1);

const SYSTEMS: &[&str] = &["mariadb@10.11", "mysql@9.7.4", "postgres@18.4"];

fn fail_over(installation: &Installation, failover: &Failover) -> CrashReport {
    let test = |system: &CrashedSystem| {
        let options = options(CrashKind::Process);
        failover_test(system, failover, &options, &AtomicBool::new(false), &mut Nobody).unwrap()
    };
    crash_by("", installation, &[], test)
}

#[dyno_test(engines(SYSTEMS))]
fn what_the_replicas_had_not_received_is_lost(installation: &Installation) {
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 2, delay_seconds: 0 };
    let report = fail_over(installation, &Failover { replication, cut_off: CUT_OFF });
    assert_eq!((report.crashes.len(), report.failure.as_deref()), (2, None));
    for crash in &report.crashes {
        assert!(crash.losses.lost > 0, "{crash:?}");
        assert!(crash.losses.lost < crash.acknowledged, "what they had received is there: {crash:?}");
        assert_eq!((crash.losses.torn, crash.losses.resurrected), (0, 0), "{crash:?}");
    }
    assert_eq!(report.verdict, Verdict::Allowed);
}

#[dyno_test(engines(SYSTEMS))]
fn what_a_replica_had_to_receive_is_kept(installation: &Installation) {
    is_kept_by(ReplicationMode::SemiSynchronous, installation);
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_galera_cluster_loses_nothing(installation: &Installation) {
    is_kept_by(ReplicationMode::Galera, installation);
}

/// Checks that a failover loses nothing with this replication.
fn is_kept_by(mode: ReplicationMode, installation: &Installation) {
    let replication = Replication { mode, replicas: 2, delay_seconds: 0 };
    let report = fail_over(installation, &Failover { replication, cut_off: CUT_OFF });
    assert_eq!((report.crashes.len(), report.failure.as_deref()), (2, None));
    assert_eq!((report.losses.lost, report.losses.torn, report.losses.resurrected), (0, 0, 0), "{report:?}");
    assert!(report.losses.in_doubt_gone > 0, "commits waited for replicas when it was killed: {report:?}");
    assert_eq!(report.verdict, Verdict::Kept);
}

#[dyno_test(engines(&["postgres@9.6.24"]))]
fn an_old_version_cannot_fail_over(installation: &Installation) {
    let replication = Replication { mode: ReplicationMode::Asynchronous, replicas: 1, delay_seconds: 0 };
    let failover = Failover { replication, cut_off: Duration::ZERO };
    let system = CrashedSystem {
        installation: installation.clone(),
        storage_engine: None,
        settings: std::collections::BTreeMap::new(),
        data_root: std::env::temp_dir(),
        sqlite_program: "none".into(),
    };
    let error =
        failover_test(&system, &failover, &options(CrashKind::Process), &AtomicBool::new(false), &mut Nobody)
            .unwrap_err();
    assert!(matches!(error, CrashError::NoFailover { oldest: 12, .. }), "{error}");
}
