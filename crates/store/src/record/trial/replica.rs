//! The replicas of a trial's system: how far they lagged behind, and which resources they used.

use std::collections::HashMap;

use rusqlite::{Row, Transaction, params};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::file::columns::unfit;
use crate::file::open::Store;
use crate::record::TrialRecord;
use crate::record::{RunId, TrialId};

/// The figures of a replica during the measured time of a trial.
///
/// The lag of a replica is measured with tokens, which are numbers that Dyno commits on the primary. A token's lag
/// is the time from the end of its commit until the replica shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicaRecord {
    /// The replica's number, from 1.
    pub number: u32,
    pub mode: ReplicationMode,
    /// Time by which the replica delays the changes that it has received, in seconds. The plan sets it.
    pub delay_seconds: u32,
    /// Number of tokens that the replica has shown.
    pub tokens: u32,
    /// Median lag of the tokens, in ms; `None` without tokens.
    pub lag_p50_ms: Option<f64>,
    pub lag_p99_ms: Option<f64>,
    pub lag_max_ms: Option<f64>,
    /// Largest lag behind the primary that the replica itself reported, in seconds; `None` if it reported none.
    pub said_max_seconds: Option<f64>,
    /// Time from the end of the load until the replica had applied everything; `None` if it never did.
    pub catch_up_seconds: Option<f64>,
    /// CPU time of the replica's processes in user space; `None` if it was not measured.
    pub user_cpu_us: Option<u64>,
    pub system_cpu_us: Option<u64>,
    /// Bytes that the replica's processes read from storage; `None` if they were not measured.
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
}

/// What a commit on the primary waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicationMode {
    /// A commit waits for no replica.
    #[default]
    Asynchronous,
    /// A commit waits until one replica has received the transaction.
    SemiSynchronous,
    /// A commit waits until all replicas have received the transaction.
    Synchronous,
    /// A commit waits for all replicas of a Galera cluster. The replicas accept writes too.
    Galera,
}

impl ReplicationMode {
    const ALL: [Self; 4] = [Self::Asynchronous, Self::SemiSynchronous, Self::Synchronous, Self::Galera];

    /// The word for the mode in plans and in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::SemiSynchronous => "semi-synchronous",
            Self::Synchronous => "synchronous",
            Self::Galera => "galera",
        }
    }
}

impl ReplicaRecord {
    /// CPU time of the replica's processes in user space and in the kernel, in µs.
    pub fn cpu_us(&self) -> Option<u64> {
        Some(self.user_cpu_us? + self.system_cpu_us?)
    }
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    record: &TrialRecord,
) -> rusqlite::Result<()> {
    for replica in &record.replicas {
        transaction.execute(
            "INSERT INTO replica (trial_id, number, mode, delay_seconds, tokens, lag_p50_ms, lag_p99_ms, lag_max_ms,
                                  said_max_seconds, catch_up_seconds, user_cpu_us, system_cpu_us, read_bytes, write_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                trial.0,
                replica.number,
                replica.mode.as_str(),
                replica.delay_seconds,
                replica.tokens,
                replica.lag_p50_ms,
                replica.lag_p99_ms,
                replica.lag_max_ms,
                replica.said_max_seconds,
                replica.catch_up_seconds,
                replica.user_cpu_us,
                replica.system_cpu_us,
                replica.read_bytes,
                replica.write_bytes,
            ],
        )?;
    }
    Ok(())
}

impl Store {
    /// The replicas of a run's trials, by trial.
    pub(crate) fn replicas(&self, run: RunId) -> Result<HashMap<i64, Vec<ReplicaRecord>>, StoreError> {
        self.by_trial(
            "SELECT r.* FROM replica r JOIN trial ON trial.id = r.trial_id WHERE run_id = ?1
             ORDER BY r.trial_id, r.number",
            run,
            replica_record,
        )
    }
}

fn replica_record(row: &Row<'_>) -> rusqlite::Result<ReplicaRecord> {
    let word: String = row.get("mode")?;
    let mode = ReplicationMode::ALL.into_iter().find(|mode| mode.as_str() == word);
    Ok(ReplicaRecord {
        number: row.get("number")?,
        mode: mode.ok_or_else(|| unfit(row, "mode", format!("`{word}` is not a mode of replication")))?,
        delay_seconds: row.get("delay_seconds")?,
        tokens: row.get("tokens")?,
        lag_p50_ms: row.get("lag_p50_ms")?,
        lag_p99_ms: row.get("lag_p99_ms")?,
        lag_max_ms: row.get("lag_max_ms")?,
        said_max_seconds: row.get("said_max_seconds")?,
        catch_up_seconds: row.get("catch_up_seconds")?,
        user_cpu_us: row.get("user_cpu_us")?,
        system_cpu_us: row.get("system_cpu_us")?,
        read_bytes: row.get("read_bytes")?,
        write_bytes: row.get("write_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunChoice;
    use crate::sample::{File, trial};

    #[test]
    fn replicas_come_back_with_their_trial_and_go_with_its_run() {
        let mut file = File::new();
        let replica = |(number, mode): (u32, ReplicationMode)| ReplicaRecord {
            number,
            mode,
            delay_seconds: number,
            tokens: 200,
            lag_p50_ms: Some(1.5),
            lag_p99_ms: Some(20.0),
            lag_max_ms: Some(35.25),
            said_max_seconds: (number > 1).then_some(1.0),
            catch_up_seconds: Some(0.01),
            user_cpu_us: Some(1000),
            system_cpu_us: Some(500),
            read_bytes: None,
            write_bytes: Some(8192),
        };
        let replicas: Vec<ReplicaRecord> = (1..).zip(ReplicationMode::ALL).map(replica).collect();
        assert_eq!(replicas[0].cpu_us(), Some(1500));
        let record = TrialRecord { replicas: replicas.clone(), ..trial("old", 0, 1000) };
        file.store.commit_trial(file.run, &record).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        let kept: Vec<_> = run.trials.iter().map(|it| it.record.replicas.clone()).collect();
        assert_eq!(kept, [replicas, Vec::new()]);
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(file.sql::<i64>("SELECT count(*) FROM replica"), [0]);
    }
}
