//! Systems whose processes are killed.

use dyno_crash::{Observer, Session, Verdict};
use dyno_engine::Installation;
use dyno_engine::testing::{engines, named_engines};
use dyno_settings::{CrashKind, Loss};
use dyno_testing::dyno_test;

use crate::{Nobody, Settings, crash, options};

/// Settings of a system that make commits wait for the disk.
fn safe_settings(system: &str) -> Settings<'static> {
    match system {
        "mariadb@10.11" => &[("innodb_flush_log_at_trx_commit", "1")],
        "mariadb@10.11/rocksdb" => &[("rocksdb_flush_log_at_trx_commit", "1")],
        "postgres@18.4" => &[("synchronous_commit", "on")],
        "sqlite" => &[("journal_mode", "WAL"), ("synchronous", "FULL")],
        _ => panic!("{system}"),
    }
}

#[dyno_test(named_engines(&["mariadb@10.11", "mariadb@10.11/rocksdb", "postgres@18.4", "sqlite"]))]
fn what_was_acknowledged_is_there(installation: &Installation, system: &str) {
    let report =
        crash(system, installation, safe_settings(system), &options(CrashKind::Process), &mut Nobody);
    assert_eq!(report.verdict, Verdict::Kept, "{report:?}");
    assert_eq!((report.promise.loss, report.promise.is_whole), (Loss::Nothing, true));
    assert_eq!(report.crashes.len(), 2);
    assert!(report.acknowledged >= 400, "{}", report.acknowledged);
    assert_eq!((report.losses.lost, report.losses.torn, report.losses.resurrected), (0, 0, 0));
    assert!(report.recovery_ms_max > Some(0.0));
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn a_log_in_the_server_s_own_memory_is_lost_as_its_setting_says(installation: &Installation) {
    // With the default timeout, the log is written each second, so the loss would depend on when the crash comes.
    let settings = [("innodb_flush_log_at_trx_commit", "0"), ("innodb_flush_log_at_timeout", "2700")];
    let report = crash("mariadb@10.11", installation, &settings, &options(CrashKind::Process), &mut Nobody);
    assert_eq!(report.promise.loss, Loss::Second);
    assert!(report.losses.lost > 0 && report.losses.lost_age_ms_max > Some(0.0), "{report:?}");
    assert_eq!((report.losses.torn, report.losses.resurrected), (0, 0), "{report:?}");
    assert_eq!(report.verdict, Verdict::Allowed);
}

/// An observer that damages the data after each recovery, before the check. It executes one statement after each
/// crash.
struct Saboteur(&'static [&'static str]);

impl Observer for Saboteur {
    fn recovered(&mut self, number: u32, session: &mut dyn Session) {
        session.execute(self.0[number as usize - 1]).unwrap();
    }
}

#[dyno_test(engines(&["mariadb@10.11"]))]
fn what_somebody_deletes_or_changes_is_found(installation: &Installation) {
    let mut saboteur = Saboteur(&[
        "DELETE a, b FROM crash_first a JOIN crash_second b USING (client, seq) WHERE client = 1 AND seq < 9",
        "UPDATE crash_second SET payload = 'other' WHERE client = 2 ORDER BY seq LIMIT 1",
    ]);
    let settings = [("innodb_flush_log_at_trx_commit", "1")];
    let report = crash("mariadb@10.11", installation, &settings, &options(CrashKind::Process), &mut saboteur);
    assert_eq!(report.verdict, Verdict::Broken);
    let [first, second] = &report.crashes[..] else { panic!("{report:?}") };
    // Some of the nine deleted transactions may have been rolled back on purpose, but hardly all of them.
    assert!((1..=9).contains(&first.losses.lost), "{first:?}");
    assert!(first.findings[0].contains("of client 1 was acknowledged"), "{:?}", first.findings);
    assert_eq!((second.losses.lost, second.losses.torn), (0, 1), "{second:?}");
}

#[dyno_test(engines(&["sqlite"]))]
fn tables_that_are_gone_are_a_finding(installation: &Installation) {
    let mut saboteur = Saboteur(&["DROP TABLE crash_second"]);
    let report = crash("sqlite", installation, &[], &options(CrashKind::Process), &mut saboteur);
    assert_eq!(report.verdict, Verdict::Broken);
    let failure = report.failure.unwrap();
    assert!(failure.starts_with("has tables that cannot be read after crash 1: no such table"), "{failure}");
}
