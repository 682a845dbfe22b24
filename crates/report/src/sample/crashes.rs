//! A sample run with crash tests.

use dyno_store::{CrashCause, CrashRecord, CrashVerdict, Run};

/// A run of one round with two crash tests. One system broke the promise of its settings. The other system lost only
/// commits that its settings allow it to lose.
pub(crate) fn crashed_run() -> Run {
    let mut run = super::run(1);
    let broken = CrashRecord {
        system_id: "mysql56".to_owned(),
        kind: CrashCause::Power,
        promise: "no acknowledged commit is lost".to_owned(),
        clients: 16,
        crashes: 5,
        acknowledged: 10_240,
        lost: 1,
        lost_age_ms_max: Some(3.1),
        in_doubt_kept: 4,
        in_doubt_gone: 14,
        recovery_ms_max: Some(6_800.0),
        verdict: CrashVerdict::Broken,
        findings: vec!["crash 2: transaction 7 of client 1 is gone".to_owned()],
        ..CrashRecord::default()
    };
    let allowed = CrashRecord {
        system_id: "maria".to_owned(),
        promise: "commits of about the last second may be lost".to_owned(),
        lost: 812,
        lost_age_ms_max: Some(870.0),
        verdict: CrashVerdict::Allowed,
        findings: Vec::new(),
        ..broken.clone()
    };
    run.crash_tests = vec![broken, allowed];
    run
}
