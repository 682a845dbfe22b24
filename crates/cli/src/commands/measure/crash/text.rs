//! The result of a crash test as text.

use std::fmt::Write as _;

use dyno_crash::{Crash, CrashReport, FailoverReport, Losses, Verdict};
use dyno_printable::printable;
use dyno_settings::{CrashKind, Loss};

/// Largest number of crashes whose findings are printed.
const TOLD_MAX: usize = 5;

/// A crash on one line, followed by a line for each fault.
pub(super) fn crash(crash: &Crash, of: u32) -> String {
    let Losses { lost, torn, resurrected, in_doubt_kept, in_doubt_gone, .. } = crash.losses;
    let mut text = format!(
        "crash {}/{of}: {} acknowledged, {lost} lost, {torn} torn, {resurrected} resurrected, {} in doubt, \
         back after {:.1} s",
        crash.number,
        crash.acknowledged,
        in_doubt_kept + in_doubt_gone,
        crash.recovery_ms / 1e3
    );
    for line in &crash.faults {
        let _ = write!(text, "\n  {}", printable(line));
    }
    text
}

/// The result of the whole test.
pub(super) fn report(report: &CrashReport) -> String {
    let losses = &report.losses;
    let kind = match (report.kind, report.failover) {
        (_, Some(failover)) => failed_over(failover),
        (CrashKind::Process, None) => "processes killed".to_owned(),
        (CrashKind::Power, None) => "power of the volume cut".to_owned(),
    };
    let guarantee = if report.failover.is_some() { "replicas guarantee" } else { "settings guarantee" };
    let recovery = report.recovery_ms_max.map_or("-".to_owned(), |ms| format!("{:.1} s", ms / 1e3));
    let (kept, gone) = (losses.in_doubt_kept, losses.in_doubt_gone);
    let rows = [
        ("system", format!("{}, version {}", report.system, report.version)),
        ("crash", format!("{kind}, {} clients, seed {}", report.clients, report.seed)),
        (guarantee, report.promise.to_string()),
        ("crashes", report.crashes.len().to_string()),
        ("acknowledged", report.acknowledged.to_string()),
        ("lost", lost(losses)),
        ("torn", losses.torn.to_string()),
        ("resurrected", losses.resurrected.to_string()),
        ("in doubt", format!("{} ({kept} kept, {gone} not kept)", kept + gone)),
        ("longest recovery", recovery),
        ("verdict", verdict(report)),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name:<20}{}", printable(&value));
    }
    text + &details(report)
}

/// How a failover was tested: `primaries killed, 2 replicas, synchronous, cut off 50 ms before`.
fn failed_over(failover: FailoverReport) -> String {
    let FailoverReport { replicas, replication, cut_off_ms } = failover;
    let cut_off = match cut_off_ms {
        0 => String::new(),
        cut_off_ms => format!(", cut off {cut_off_ms} ms before"),
    };
    let replicas = if replicas == 1 { "1 replica".to_owned() } else { format!("{replicas} replicas") };
    format!("primaries killed, {replicas}, {}{cut_off}", replication.as_str())
}

fn lost(losses: &Losses) -> String {
    match losses.lost_age_ms_max {
        Some(age_ms) => format!("{}, the oldest acknowledged {age_ms:.0} ms before its crash", losses.lost),
        None => losses.lost.to_string(),
    }
}

fn verdict(report: &CrashReport) -> String {
    let words = match (report.verdict, report.promise.loss) {
        (Verdict::Broken, _) => "BROKEN: it lost more than its settings allow",
        (Verdict::None, _) => "none: there was no crash",
        (Verdict::Allowed, Loss::Unknown) => {
            "it lost something, and its settings do not show whether they allow it"
        }
        (Verdict::Allowed, _) => "it lost no more than its settings allow",
        (Verdict::Kept, Loss::Nothing) => "kept: nothing was lost",
        (Verdict::Kept, _) => "nothing was lost, though its settings allow it",
    };
    let stopped = if report.is_stopped { " (stopped early)" } else { "" };
    format!("{words}{stopped}")
}

/// The violations of durability after each crash, if the verdict is that the system broke its promise of durability.
/// Otherwise the text is empty.
fn details(report: &CrashReport) -> String {
    let mut text = String::new();
    if report.verdict != Verdict::Broken {
        return text;
    }
    if let Some(failure) = &report.failure {
        let _ = writeln!(text, "\n{}: {}", report.system, printable(failure));
    }
    let has_details = |crash: &&Crash| !crash.findings.is_empty() || !crash.faults.is_empty();
    for crash in report.crashes.iter().filter(has_details).take(TOLD_MAX) {
        let _ = writeln!(text, "\nafter crash {}", crash.number);
        for line in crash.faults.iter().chain(&crash.findings) {
            let _ = writeln!(text, "  {}", printable(line));
        }
    }
    text
}
