//! Systems whose disk loses its power.

use dyno_crash::Verdict;
use dyno_engine::Installation;
use dyno_engine::testing::{Trial, installation};
use dyno_host::VolatileVolume;
use dyno_settings::{CrashKind, Loss};
use libtest_mimic::Completion;

use crate::{Nobody, Settings, crash, options};

/// Systems with settings that make commits wait for the disk and let torn pages be repaired.
const SAFE: [(&str, Settings<'_>); 3] = [
    ("mariadb@10.11", &[("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")]),
    ("postgres@18.4", &[("synchronous_commit", "on"), ("full_page_writes", "on")]),
    ("sqlite", &[("journal_mode", "WAL"), ("synchronous", "FULL")]),
];

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests: Vec<Trial> = SAFE
        .map(|(system, settings)| {
            power_test("what_was_acknowledged_is_there", system, move |installation| {
                what_was_acknowledged_is_there(system, installation, settings);
            })
        })
        .into();
    tests.push(power_test(
        "what_the_system_was_left_to_write_is_lost",
        "sqlite",
        what_the_system_was_left_to_write_is_lost,
    ));
    tests
}

fn power_test(name: &str, system: &'static str, test: impl FnOnce(&Installation) + Send + 'static) -> Trial {
    Trial::ignorable_test(format!("{system} power::{name}"), move || {
        if let Err(missing) = VolatileVolume::check_rights() {
            return Ok(Completion::ignored_with(missing.to_string()));
        }
        match installation(system) {
            Ok(installation) => test(&installation),
            Err(reason) if std::env::var_os("DYNO_REQUIRE_ENGINES").is_some_and(|value| value == "1") => {
                return Err(reason.into());
            }
            Err(reason) => return Ok(Completion::ignored_with(reason)),
        }
        Ok(Completion::Completed)
    })
}

fn what_was_acknowledged_is_there(system: &str, installation: &Installation, settings: Settings<'_>) {
    let report = crash(system, installation, settings, &options(CrashKind::Power), &mut Nobody);
    assert_eq!(report.verdict, Verdict::Kept, "{report:?}");
    assert_eq!((report.promise.loss, report.promise.is_whole), (Loss::Nothing, true));
    assert_eq!(report.crashes.len(), 2);
    assert!(report.acknowledged >= 400, "{}", report.acknowledged);
    assert!(report.crashes.iter().all(|crash| crash.unflushed_blocks.is_some()));
}

fn what_the_system_was_left_to_write_is_lost(installation: &Installation) {
    let settings = [("journal_mode", "WAL"), ("synchronous", "NORMAL")];
    let killed = crash("sqlite", installation, &settings, &options(CrashKind::Process), &mut Nobody);
    assert_eq!((killed.promise.loss, killed.verdict), (Loss::Nothing, Verdict::Kept), "{killed:?}");
    let cut = crash("sqlite", installation, &settings, &options(CrashKind::Power), &mut Nobody);
    assert_eq!((cut.promise.loss, cut.verdict), (Loss::Last, Verdict::Allowed), "{cut:?}");
    assert!(cut.losses.lost > 0, "{cut:?}");
    assert_eq!((cut.losses.torn, cut.losses.resurrected), (0, 0), "{cut:?}");
}
