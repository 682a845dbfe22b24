//! Systems whose disk loses its power.

use dyno_crash::Verdict;
use dyno_engine::Installation;
use dyno_engine::testing::engine_test;
use dyno_host::VolatileVolume;
use dyno_settings::{CrashKind, Loss};
use dyno_testing::{Completion, Trial, dyno_test};

use crate::{Nobody, Settings, crash, options};

/// A maker that makes one test for each of these systems, on volumes whose power can be cut. A test is ignored, with
/// the reason, if this user has no right to make such volumes.
fn with_power_cuts(systems: &'static [&'static str]) -> impl Fn(&str, fn(&Installation, &str)) -> Vec<Trial> {
    move |name, test| {
        let on_engine = |system: &&'static str| {
            let system = *system;
            match VolatileVolume::check_rights() {
                Ok(()) => engine_test(name, system, move |installation| {
                    test(installation, system);
                    Ok(())
                }),
                Err(missing) => Trial::ignorable_test(format!("{name} {system}"), move || {
                    Ok(Completion::ignored_with(missing.to_string()))
                }),
            }
        };
        systems.iter().map(on_engine).collect()
    }
}

/// Settings of a system that make commits wait for the disk and let torn pages be repaired.
fn safe_settings(system: &str) -> Settings<'static> {
    match system {
        "mariadb@10.11" => &[("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")],
        "postgres@18.4" => &[("synchronous_commit", "on"), ("full_page_writes", "on")],
        "sqlite" => &[("journal_mode", "WAL"), ("synchronous", "FULL")],
        _ => panic!("{system}"),
    }
}

#[dyno_test(with_power_cuts(&["mariadb@10.11", "postgres@18.4", "sqlite"]))]
fn what_was_acknowledged_is_there(installation: &Installation, system: &str) {
    let report = crash(system, installation, safe_settings(system), &options(CrashKind::Power), &mut Nobody);
    assert_eq!(report.verdict, Verdict::Kept, "{report:?}");
    assert_eq!((report.promise.loss, report.promise.is_whole), (Loss::Nothing, true));
    assert_eq!(report.crashes.len(), 2);
    assert!(report.acknowledged >= 400, "{}", report.acknowledged);
    assert!(report.crashes.iter().all(|crash| crash.unflushed_blocks.is_some()));
}

#[dyno_test(with_power_cuts(&["sqlite"]))]
fn what_the_system_was_left_to_write_is_lost(installation: &Installation, system: &str) {
    let settings = [("journal_mode", "WAL"), ("synchronous", "NORMAL")];
    let killed = crash(system, installation, &settings, &options(CrashKind::Process), &mut Nobody);
    assert_eq!((killed.promise.loss, killed.verdict), (Loss::Nothing, Verdict::Kept), "{killed:?}");
    let cut = crash(system, installation, &settings, &options(CrashKind::Power), &mut Nobody);
    assert_eq!((cut.promise.loss, cut.verdict), (Loss::Last, Verdict::Allowed), "{cut:?}");
    assert!(cut.losses.lost > 0, "{cut:?}");
    assert_eq!((cut.losses.torn, cut.losses.resurrected), (0, 0), "{cut:?}");
}
