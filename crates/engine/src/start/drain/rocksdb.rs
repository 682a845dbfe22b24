//! Drains MyRocks: flushes memtables, compacts levels.

use dyno_client::Client;

use super::background_statement::BackgroundStatement;
use super::backlog::{Backlog, number};
use super::error::DrainError;
use super::report::DrainAmount;

const FLUSH: &[&str] = &["SET GLOBAL rocksdb_force_flush_memtable_now = 1"];

/// Sums over column families. The server's own dictionary is left out: it is written all the time.
const SUMS: [(&str, &str); 3] = [
    (
        "entries in memtables",
        "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS WHERE CF_NAME <> '__system__' \
         AND STAT_TYPE IN ('NUM_ENTRIES_ACTIVE_MEM_TABLE', 'NUM_ENTRIES_IMM_MEM_TABLES')",
    ),
    (
        "column families to flush or compact",
        "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS \
         WHERE STAT_TYPE IN ('MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING')",
    ),
    (
        "files being compacted",
        "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_COMPACTION_STATS \
         WHERE LEVEL = 'Sum' AND TYPE = 'CompactedFiles'",
    ),
];

pub(super) struct Rocksdb {
    client: Client,
    /// The connection for the flush. `None` once the flush has begun.
    flusher: Option<Client>,
    flush: Option<BackgroundStatement>,
}

impl Rocksdb {
    pub(super) fn new(client: Client, flusher: Client) -> Self {
        Self { client, flusher: Some(flusher), flush: None }
    }
}

impl Backlog for Rocksdb {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        let mut amounts = Vec::new();
        if let Some(flush) = &mut self.flush {
            // Read before the amounts: once it is 0, the amounts are those after the flush.
            amounts.push(DrainAmount::down_to(0.0, "flushes under way", flush.left()?));
        }
        for (name, sql) in SUMS {
            let value = number(&mut self.client, sql)?;
            amounts.extend(value.map(|value| DrainAmount::down_to(0.0, name, value)));
        }
        Ok(amounts)
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        self.flush = self.flusher.take().map(|client| BackgroundStatement::start(client, FLUSH));
        Ok(())
    }

    /// Does nothing. A flush cannot be cancelled, and ends by itself.
    fn end(&mut self) -> Result<(), DrainError> {
        Ok(())
    }
}
