//! Attempts to run the rounds of a run that is spread over hosts.

use rusqlite::{Connection, Row, params};
use serde_json::json;

use crate::error::StoreError;
use crate::file::columns::optional_json;
use crate::file::open::Store;
use crate::record::RunId;
use crate::record::run::host::HostRecord;

/// An attempt to run one round on one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptRecord {
    /// The round, from 0.
    pub round: u32,
    /// The name by which the scheduler or ssh refers to the host; `None` if no host was assigned.
    pub node: Option<String>,
    /// The host that delivered the round; `None` if nothing was delivered.
    pub host: Option<HostRecord>,
    /// When the attempt ended, in milliseconds since 1970 UTC.
    pub ended_at_ms: i64,
    /// Why nothing was delivered; `None` if the round's results are in the file.
    pub loss: Option<String>,
}

impl AttemptRecord {
    /// Returns the name that the scheduler or ssh has for the host, or else the host's own name.
    pub fn name(&self) -> Option<&str> {
        let own = || self.host.as_ref()?.hostname.as_deref();
        self.node.as_deref().or_else(own)
    }
}

impl Store {
    /// Adds an attempt after all earlier attempts at its round.
    ///
    /// # Errors
    /// The file cannot be written or has no such run, or the attempt does not have exactly one of `host` and
    /// `loss`.
    pub fn put_attempt(&mut self, run: RunId, attempt: &AttemptRecord) -> Result<(), StoreError> {
        self.transaction(|transaction| insert(transaction, run, attempt))
    }

    /// Returns the attempts of a run, sorted by round and by the attempt's number in its round.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn attempts(&self, run: RunId) -> Result<Vec<AttemptRecord>, StoreError> {
        let sql = "SELECT * FROM attempt WHERE run_id = ?1 ORDER BY round, number";
        self.rows(sql, [run.0], attempt_record)
    }
}

pub(crate) fn insert(connection: &Connection, run: RunId, attempt: &AttemptRecord) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO attempt (run_id, round, number, node, host, ended_at_ms, loss)
         SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3, ?4, ?5, ?6
         FROM attempt WHERE run_id = ?1 AND round = ?2",
        params![
            run.0,
            attempt.round,
            attempt.node,
            attempt.host.as_ref().map(|host| json!(host).to_string()),
            attempt.ended_at_ms,
            attempt.loss,
        ],
    )?;
    Ok(())
}

fn attempt_record(row: &Row<'_>) -> rusqlite::Result<AttemptRecord> {
    Ok(AttemptRecord {
        round: row.get("round")?,
        node: row.get("node")?,
        host: optional_json(row, "host")?,
        ended_at_ms: row.get("ended_at_ms")?,
        loss: row.get("loss")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunChoice;
    use crate::sample::File;

    #[test]
    fn attempts_are_numbered_by_round_in_the_order_in_which_they_ended() {
        let mut file = File::new();
        let lost = AttemptRecord {
            round: 3,
            node: Some("n2".to_owned()),
            ended_at_ms: 7,
            loss: Some("the node is down".to_owned()),
            ..AttemptRecord::default()
        };
        let host = HostRecord { hostname: Some("bench1".to_owned()), ..HostRecord::default() };
        let delivered =
            AttemptRecord { node: None, host: Some(host), ended_at_ms: 9, loss: None, ..lost.clone() };
        let other = AttemptRecord { round: 1, ..delivered.clone() };
        for attempt in [&lost, &other, &delivered] {
            file.store.put_attempt(file.run, attempt).unwrap();
        }
        let run = file.store.load_run(RunChoice::Latest).unwrap();
        assert_eq!(
            run.attempts.iter().map(AttemptRecord::name).collect::<Vec<_>>(),
            [Some("bench1"), Some("n2"), Some("bench1")]
        );
        assert_eq!(run.attempts, [other, lost, delivered]);
        assert_eq!(file.sql::<i64>("SELECT number FROM attempt ORDER BY round, number"), [1, 1, 2]);
    }

    #[test]
    fn an_attempt_is_either_lost_or_delivered() {
        let mut file = File::new();
        assert!(file.store.put_attempt(file.run, &AttemptRecord::default()).is_err());
        let both = AttemptRecord {
            host: Some(HostRecord::default()),
            loss: Some("gone".to_owned()),
            ..AttemptRecord::default()
        };
        assert!(file.store.put_attempt(file.run, &both).is_err());
        assert_eq!(file.store.load_run(RunChoice::Latest).unwrap().attempts, []);
    }
}
