//! The figures of a trial's replay of a server's traffic.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Row as SqlRow, Transaction};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::file::open::Store;
use crate::file::row::Row;
use crate::record::trial::latency::{self, LatencyRecord};
use crate::record::{RunId, TrialId};

/// The figures of a replay of a server's traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayRecord {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Sessions whose connection the server refused.
    pub sessions_refused: u64,
    /// Sessions whose connection the server closed before the end of the session.
    pub sessions_lost: u64,
    /// In a replay that keeps the order of commits: statements that were sent although an earlier commit had not
    /// ended.
    #[serde(default)]
    pub out_of_order: u64,
    /// Statements that were not sent, by the reason: `redacted`, `client_data`, `server`, `database`,
    /// `disconnected`.
    pub not_sent: BTreeMap<String, u64>,
    /// How late statements were sent. Statements whose session was still busy when they were due are left out. `None`
    /// if the replay has no pace: each session sends a statement as soon as the previous one has ended.
    pub late: Option<LatenessRecord>,
}

/// How late statements were sent, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatenessRecord {
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// The statements of a digest that a trial replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DigestRecord {
    /// The digest's hash. Equal texts have equal hashes.
    pub digest: String,
    /// The digest's text.
    pub statement: String,
    /// `read`, `write`, `begin`, `end`, `transaction`, `definition`, `session` or `other`.
    pub kind: String,
    /// Statements that were answered, with rows or an error.
    pub statements: u64,
    /// Rows that the statements returned.
    pub rows: u64,
    /// Rows that the statements changed.
    pub rows_affected: u64,
    /// Rows that the server reads for one example of the digest. They are counted after the trial, and only for the
    /// digests that took the most time.
    pub rows_examined: Option<u64>,
    /// Number of errors by error number, or by SQL state if the server has no error numbers.
    pub error_codes: BTreeMap<String, u64>,
    /// A hash of the answers to statements without an error; `None` if answers were not read.
    pub answers: Option<u64>,
    /// Time from sending a statement until its answer, for statements without an error.
    pub latency: LatencyRecord,
}

impl DigestRecord {
    /// Number of errors of all codes.
    pub fn errors(&self) -> u64 {
        self.error_codes.values().sum()
    }
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    trial: TrialId,
    digests: &[DigestRecord],
) -> rusqlite::Result<()> {
    for digest in digests {
        let mut row = Row::default();
        row.set("trial_id", trial.0);
        row.set("digest", digest.digest.clone());
        row.set("statement", digest.statement.clone());
        row.set("kind", digest.kind.clone());
        row.set("statements", digest.statements.cast_signed());
        row.set("rows", digest.rows.cast_signed());
        row.set("rows_affected", digest.rows_affected.cast_signed());
        row.set("rows_examined", digest.rows_examined.map(u64::cast_signed));
        row.set("error_codes", serde_json::json!(digest.error_codes).to_string());
        row.set("answers", digest.answers.map(u64::cast_signed));
        row.set("latency", digest.latency.histogram.clone());
        row.set_all(latency::COLUMNS, latency::figures(&digest.latency));
        row.insert(transaction, "replayed_digest")?;
    }
    Ok(())
}

impl Store {
    /// The digests of a run's replays, by trial, in the order of their hashes.
    pub(crate) fn replayed_digests(&self, run: RunId) -> Result<HashMap<i64, Vec<DigestRecord>>, StoreError> {
        self.by_trial(
            "SELECT replayed_digest.* FROM replayed_digest JOIN trial ON trial.id = trial_id
             WHERE run_id = ?1 ORDER BY trial_id, digest",
            run,
            record,
        )
    }
}

fn record(row: &SqlRow<'_>) -> rusqlite::Result<DigestRecord> {
    Ok(DigestRecord {
        digest: row.get("digest")?,
        statement: row.get("statement")?,
        kind: row.get("kind")?,
        statements: row.get("statements")?,
        rows: row.get("rows")?,
        rows_affected: row.get("rows_affected")?,
        rows_examined: row.get("rows_examined")?,
        error_codes: crate::file::columns::json(row, "error_codes")?,
        answers: row.get::<_, Option<i64>>("answers")?.map(i64::cast_unsigned),
        latency: latency::latency_of(row)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TrialRecord;
    use crate::record::trial::latency::latency_record;
    use crate::run::RunChoice;
    use crate::sample::{File, trial};

    #[test]
    fn a_replay_comes_back_and_goes_with_its_run() {
        let mut file = File::new();
        let digest = |digest: &str, latencies_us: &[u64]| DigestRecord {
            digest: digest.to_owned(),
            statement: "SELECT ?".to_owned(),
            kind: "read".to_owned(),
            statements: 3,
            rows: 7,
            rows_affected: 1,
            rows_examined: (digest == "bb").then_some(20_000),
            error_codes: BTreeMap::from([("1213".to_owned(), 2)]),
            answers: (digest == "aa").then_some(u64::MAX - 1),
            latency: latency_record(latencies_us.iter().copied()),
        };
        let replay = ReplayRecord {
            sessions: 4,
            sessions_lost: 1,
            not_sent: BTreeMap::from([("server".to_owned(), 2)]),
            late: Some(LatenessRecord { p50_us: 10.0, p99_us: 90.5, max_us: 400.0 }),
            ..ReplayRecord::default()
        };
        let replayed = vec![digest("aa", &[100]), digest("bb", &[])];
        assert_eq!(replayed[0].errors(), 2);
        let record =
            TrialRecord { replay: Some(replay.clone()), replayed: replayed.clone(), ..trial("old", 0, 1000) };
        file.store.commit_trial(file.run, &record).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        let kept: Vec<_> = run
            .trials
            .iter()
            .map(|trial| (trial.record.replay.clone(), trial.record.replayed.clone()))
            .collect();
        assert_eq!(kept, [(Some(replay), replayed), (None, Vec::new())]);
        assert_eq!(
            file.sql::<f64>("SELECT latency_mean_us FROM replayed_digest WHERE digest = 'aa'"),
            [100.0]
        );
        file.store.finish_run(file.run, crate::Ending::Finished, 0).unwrap();
        file.store.delete_run(file.run).unwrap();
        assert_eq!(file.sql::<i64>("SELECT count(*) FROM replayed_digest"), [0]);
    }
}
