//! Crash tests of a run's systems.

use rusqlite::params;
use serde::Serialize;

use crate::error::StoreError;
use crate::file::columns::json;
use crate::file::open::Store;
use crate::file::row::Row;
use crate::record::RunId;

/// The kind of crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CrashCause {
    /// The server's processes were killed.
    #[default]
    Process,
    /// The volume with the data lost its power. Dyno serves this volume and simulates the power cut.
    Power,
}

impl CrashCause {
    fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Power => "power",
        }
    }
}

/// Whether the promise of a system's settings was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CrashVerdict {
    /// Nothing was lost.
    Kept,
    /// Commits were lost, and the settings allow that.
    Allowed,
    Broken,
    /// No verdict, because there was no crash.
    #[default]
    None,
}

impl CrashVerdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Allowed => "allowed",
            Self::Broken => "broken",
            Self::None => "none",
        }
    }
}

/// The result of the crash test of a system. `docs/do/crash.md` explains what is counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrashRecord {
    pub system_id: String,
    pub kind: CrashCause,
    /// What the settings promise about commits after a crash, in words.
    pub promise: String,
    pub clients: u32,
    /// Number of crashes after which the data was checked.
    pub crashes: u32,
    /// Number of commits that the server acknowledged before the crashes that `crashes` counts.
    pub acknowledged: u64,
    /// Acknowledged transactions that were missing after a crash.
    pub lost: u64,
    /// Longest time from the acknowledgement of a lost transaction to the crash that lost it, in ms. `None` if no
    /// transaction was lost.
    pub lost_age_ms_max: Option<f64>,
    /// Transactions of which only a part is present, or whose rows have other values than were written.
    pub torn: u64,
    /// Transactions that are present although they were never committed.
    pub resurrected: u64,
    /// Transactions that are present although the server did not answer their commit.
    pub in_doubt_kept: u64,
    /// Transactions that are missing and whose commit the server did not answer.
    pub in_doubt_gone: u64,
    /// Longest time from the server's start after a crash to its first answer, in ms.
    pub recovery_ms_max: Option<f64>,
    pub verdict: CrashVerdict,
    /// Why the test could not begin or finish.
    pub failure: Option<String>,
    /// The first differences and faults that the checks found, in words.
    pub findings: Vec<String>,
}

impl Store {
    /// Adds the crash test of a system.
    ///
    /// # Errors
    /// The file cannot be written, or has no such run or system, or already has a crash test of this system.
    pub fn put_crash_test(&mut self, run: RunId, test: &CrashRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            let mut row = Row::default();
            row.set("run_id", run.0);
            row.set("system_id", test.system_id.clone());
            row.set("kind", test.kind.as_str().to_owned());
            row.set("promise", test.promise.clone());
            row.set("clients", test.clients);
            row.set("crashes", test.crashes);
            row.set("acknowledged", test.acknowledged.cast_signed());
            row.set("lost", test.lost.cast_signed());
            row.set("lost_age_ms_max", test.lost_age_ms_max);
            row.set("torn", test.torn.cast_signed());
            row.set("resurrected", test.resurrected.cast_signed());
            row.set("in_doubt_kept", test.in_doubt_kept.cast_signed());
            row.set("in_doubt_gone", test.in_doubt_gone.cast_signed());
            row.set("recovery_ms_max", test.recovery_ms_max);
            row.set("verdict", test.verdict.as_str().to_owned());
            row.set("failure", test.failure.clone());
            row.set("findings", serde_json::json!(test.findings).to_string());
            row.insert(transaction, "crash_test")
        })
    }

    /// The crash tests of a run, in the plan's order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn crash_tests(&self, run: RunId) -> Result<Vec<CrashRecord>, StoreError> {
        self.rows(
            "SELECT crash_test.* FROM crash_test JOIN system ON system.run_id = crash_test.run_id AND system.id = system_id
             WHERE crash_test.run_id = ?1 ORDER BY position",
            params![run.0],
            |row| {
                Ok(CrashRecord {
                    system_id: row.get("system_id")?,
                    kind: match row.get_ref("kind")?.as_str()? {
                        "power" => CrashCause::Power,
                        _ => CrashCause::Process,
                    },
                    promise: row.get("promise")?,
                    clients: row.get("clients")?,
                    crashes: row.get("crashes")?,
                    acknowledged: row.get("acknowledged")?,
                    lost: row.get("lost")?,
                    lost_age_ms_max: row.get("lost_age_ms_max")?,
                    torn: row.get("torn")?,
                    resurrected: row.get("resurrected")?,
                    in_doubt_kept: row.get("in_doubt_kept")?,
                    in_doubt_gone: row.get("in_doubt_gone")?,
                    recovery_ms_max: row.get("recovery_ms_max")?,
                    verdict: match row.get_ref("verdict")?.as_str()? {
                        "kept" => CrashVerdict::Kept,
                        "allowed" => CrashVerdict::Allowed,
                        "broken" => CrashVerdict::Broken,
                        _ => CrashVerdict::None,
                    },
                    failure: row.get("failure")?,
                    findings: json(row, "findings")?,
                })
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::File;

    #[test]
    fn the_crash_test_of_a_system_comes_back_with_its_run_and_is_there_once() {
        let mut file = File::new();
        let test = CrashRecord {
            system_id: "new".to_owned(),
            kind: CrashCause::Power,
            crashes: 5,
            acknowledged: 10_000,
            lost: 3,
            lost_age_ms_max: Some(12.5),
            verdict: CrashVerdict::Allowed,
            findings: vec!["transaction 7 of client 1 is gone".to_owned()],
            ..CrashRecord::default()
        };
        file.store.put_crash_test(file.run, &test).unwrap();
        assert_eq!(file.store.crash_tests(file.run).unwrap(), std::slice::from_ref(&test));
        assert!(file.store.put_crash_test(file.run, &test).is_err());
        let unknown = CrashRecord { system_id: "other".to_owned(), ..test };
        assert!(file.store.put_crash_test(file.run, &unknown).is_err());
    }
}
