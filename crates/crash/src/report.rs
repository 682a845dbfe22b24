//! The effects of crashes, and whether they agree with the promises of the settings.

use std::time::Duration;

use dyno_engine::ReplicationMode;
use dyno_host::CutWrites;
use dyno_settings::{CrashKind, Durability, Loss, Promise};
use serde::Serialize;

use crate::clients::ledger::Finding;
use crate::options::Failover;

/// Counts after one or several crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// Transactions that were acknowledged before the crash and are gone.
    pub lost: u64,
    /// Milliseconds between the acknowledgement of the oldest lost transaction and the crash; `None` if none
    /// was lost.
    pub lost_age_ms_max: Option<f64>,
    /// Transactions that are present in part, rows whose content differs from what was written, and clients' counters
    /// that do not match the last transaction that is present.
    pub torn: u64,
    /// Transactions that were rolled back or whose commit was never sent, but that are present.
    pub resurrected: u64,
    /// Transactions whose commit was sent but not answered, and that are present.
    pub in_doubt_kept: u64,
    /// Transactions whose commit was sent but not answered, and that are gone.
    pub in_doubt_gone: u64,
}

/// A crash and the recovery from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crash {
    /// The number of the crash, from 1.
    pub number: u32,
    /// Number of commits that were acknowledged between the previous crash and this one.
    pub acknowledged: u64,
    #[serde(flatten)]
    pub losses: Losses,
    /// Milliseconds from the restart of the crashed system to its first answer. In a failover, milliseconds from
    /// the crash until a replica takes writes.
    pub recovery_ms: f64,
    /// Blocks of 4 KiB that were written but not flushed when the power was cut; `None` if the power was not cut.
    pub unflushed_blocks: Option<u64>,
    /// Number of the unflushed blocks that reached the disk nevertheless.
    pub survived_blocks: Option<u64>,
    /// Faults that the system's own check of its tables found.
    pub faults: Vec<String>,
    /// The first differences that were found, in words.
    pub findings: Vec<String>,
}

/// Whether the promise of the settings was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No data was lost or damaged.
    Kept,
    /// Data was lost or damaged, but the settings allow this.
    Allowed,
    Broken,
    /// There was no crash.
    None,
}

/// The replicas of a system that was crashed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FailoverReport {
    pub replicas: u32,
    pub replication: ReplicationMode,
    /// Milliseconds before each crash during which the replicas received nothing.
    pub cut_off_ms: u64,
}

impl From<&Failover> for FailoverReport {
    fn from(failover: &Failover) -> Self {
        Self {
            replicas: failover.replication.replicas,
            replication: failover.replication.mode,
            cut_off_ms: failover.cut_off.as_millis() as u64,
        }
    }
}

/// All crashes of a system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashReport {
    pub system: String,
    /// The version as the system reports it.
    pub version: String,
    pub kind: CrashKind,
    pub durability: Durability,
    pub promise: Promise,
    pub clients: u32,
    pub seed: u64,
    pub crashes: Vec<Crash>,
    /// Number of acknowledged commits. This number and the losses are sums over all crashes.
    pub acknowledged: u64,
    #[serde(flatten)]
    pub losses: Losses,
    pub recovery_ms_max: Option<f64>,
    /// Why the system became unusable. For example, it ended by itself, did not start again, or its tables could
    /// not be read.
    pub failure: Option<String>,
    /// Whether the user stopped the test.
    pub is_stopped: bool,
    /// The replicas that took the place of crashed primaries. `None` for a test without failovers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<FailoverReport>,
    pub verdict: Verdict,
}

impl Losses {
    /// Counts a finding. `age_ms` returns the milliseconds from a given time to the crash.
    pub(crate) fn note(&mut self, finding: Finding, age_ms: impl Fn(Duration) -> f64) {
        match finding {
            Finding::Lost(at) => {
                self.lost += 1;
                self.lost_age_ms_max = max(self.lost_age_ms_max, Some(age_ms(at)));
            }
            Finding::Torn => self.torn += 1,
            Finding::Resurrected => self.resurrected += 1,
            Finding::InDoubtKept => self.in_doubt_kept += 1,
            Finding::InDoubtGone => self.in_doubt_gone += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.lost += other.lost;
        self.lost_age_ms_max = max(self.lost_age_ms_max, other.lost_age_ms_max);
        self.torn += other.torn;
        self.resurrected += other.resurrected;
        self.in_doubt_kept += other.in_doubt_kept;
        self.in_doubt_gone += other.in_doubt_gone;
    }
}

impl Crash {
    pub(crate) fn new(number: u32, acknowledged: u64, cut: Option<CutWrites>) -> Self {
        Self {
            number,
            acknowledged,
            losses: Losses::default(),
            recovery_ms: 0.0,
            unflushed_blocks: cut.map(|cut| cut.unflushed_blocks),
            survived_blocks: cut.map(|cut| cut.survived_blocks),
            faults: Vec::new(),
            findings: Vec::new(),
        }
    }
}

impl CrashReport {
    /// Adds up the crashes and decides on the verdict.
    pub(crate) fn conclude(&mut self) {
        for crash in &self.crashes {
            self.acknowledged += crash.acknowledged;
            self.losses.add(&crash.losses);
            self.recovery_ms_max = max(self.recovery_ms_max, Some(crash.recovery_ms));
        }
        self.verdict = self.judge();
    }

    fn judge(&self) -> Verdict {
        let Losses { lost, torn, resurrected, .. } = self.losses;
        let is_hurt = torn + resurrected > 0 || self.crashes.iter().any(|crash| !crash.faults.is_empty());
        if self.failure.is_some()
            || (lost > 0 && self.promise.loss == Loss::Nothing)
            || (is_hurt && self.promise.is_whole)
        {
            Verdict::Broken
        } else if self.crashes.is_empty() {
            Verdict::None
        } else if lost > 0 || is_hurt {
            Verdict::Allowed
        } else {
            Verdict::Kept
        }
    }
}

fn max(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(loss: Loss, is_whole: bool, crashes: &[Losses]) -> CrashReport {
        let crash = |losses: &Losses| Crash { losses: *losses, ..Crash::new(1, 10, None) };
        let mut report = CrashReport {
            system: "s".to_owned(),
            version: "1".to_owned(),
            kind: CrashKind::Power,
            durability: Durability::Durable,
            promise: Promise { loss, is_whole },
            clients: 1,
            seed: 1,
            crashes: crashes.iter().map(crash).collect(),
            acknowledged: 0,
            losses: Losses::default(),
            recovery_ms_max: None,
            failure: None,
            is_stopped: false,
            failover: None,
            verdict: Verdict::None,
        };
        report.conclude();
        report
    }

    #[test]
    fn a_lost_commit_breaks_the_promise_that_none_is_lost_and_no_other() {
        let lost = Losses { lost: 1, lost_age_ms_max: Some(3.0), ..Losses::default() };
        assert_eq!(report(Loss::Nothing, true, &[Losses::default(), lost]).verdict, Verdict::Broken);
        for loss in [Loss::Second, Loss::Last, Loss::All, Loss::Unknown] {
            assert_eq!(report(loss, true, &[lost]).verdict, Verdict::Allowed);
        }
        assert_eq!(report(Loss::Nothing, true, &[Losses::default()]).verdict, Verdict::Kept);
        assert_eq!(report(Loss::Nothing, true, &[]).verdict, Verdict::None);
    }

    #[test]
    fn what_is_torn_or_resurrected_breaks_the_promise_of_whole_tables() {
        for hurt in [Losses { torn: 1, ..Losses::default() }, Losses { resurrected: 1, ..Losses::default() }]
        {
            assert_eq!(report(Loss::Second, true, &[hurt]).verdict, Verdict::Broken);
            assert_eq!(report(Loss::All, false, &[hurt]).verdict, Verdict::Allowed);
        }
        let mut faulty = report(Loss::Second, true, &[Losses::default()]);
        faulty.crashes[0].faults.push("CHECK TABLE: corrupt".to_owned());
        assert_eq!(faulty.judge(), Verdict::Broken);
    }

    #[test]
    fn sums_are_of_all_crashes_and_the_oldest_loss_is_the_oldest_of_all() {
        let lost = |age_ms| Losses { lost: 2, lost_age_ms_max: Some(age_ms), ..Losses::default() };
        let report = report(Loss::Second, true, &[lost(7.0), Losses::default(), lost(3.0)]);
        assert_eq!((report.acknowledged, report.losses.lost), (30, 4));
        assert_eq!(report.losses.lost_age_ms_max, Some(7.0));
    }
}
