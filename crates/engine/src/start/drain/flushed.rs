//! Drains storage engines that write when a statement asks for it: MyRocks flushes memtables and compacts levels, and
//! `MyISAM`, Aria and others write a table when it is closed.

use dyno_client::Client;

use super::background_statement::BackgroundStatement;
use super::backlog::{Backlog, number};
use super::error::DrainError;
use super::report::DrainAmount;

/// How a storage engine is flushed, and how its pending writes are measured.
pub(super) struct Flush {
    statements: &'static [&'static str],
    amounts: &'static [Amount],
}

struct Amount {
    name: &'static str,
    sql: &'static str,
    /// The drain waits until the amount is at most this value.
    goal: f64,
}

/// How MyRocks is flushed. The amounts are sums over column families. The entries in memtables are counted without the
/// column family of the server's own dictionary, because the server writes to that column family all the time.
pub(super) const ROCKSDB: Flush = Flush {
    statements: &["SET GLOBAL rocksdb_force_flush_memtable_now = 1"],
    amounts: &[
        Amount {
            name: "entries in memtables",
            sql: "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS WHERE CF_NAME <> '__system__' \
         AND STAT_TYPE IN ('NUM_ENTRIES_ACTIVE_MEM_TABLE', 'NUM_ENTRIES_IMM_MEM_TABLES')",
            goal: 0.0,
        },
        Amount {
            name: "column families to flush or compact",
            sql: "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS \
         WHERE STAT_TYPE IN ('MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING')",
            goal: 0.0,
        },
        Amount {
            name: "files being compacted",
            sql: "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_COMPACTION_STATS \
         WHERE LEVEL = 'Sum' AND TYPE = 'CompactedFiles'",
            goal: 0.0,
        },
    ],
};

/// An idle server has at most this many dirty blocks, because MariaDB keeps writing to its own Aria tables.
const BLOCKS_MAX: f64 = 16.0;

/// How storage engines other than InnoDB and MyRocks are flushed. They cache blocks of tables.
pub(super) const OTHERS: Flush = Flush {
    statements: &["FLUSH TABLES"],
    amounts: &[
        Amount {
            name: "Key_blocks_not_flushed",
            sql: "SHOW GLOBAL STATUS LIKE 'Key_blocks_not_flushed'",
            goal: BLOCKS_MAX,
        },
        Amount {
            name: "Aria_pagecache_blocks_not_flushed",
            sql: "SHOW GLOBAL STATUS LIKE 'Aria_pagecache_blocks_not_flushed'",
            goal: BLOCKS_MAX,
        },
    ],
};

/// The pending writes of a storage engine that a statement flushes.
pub(super) struct Flushed {
    kind: &'static Flush,
    client: Client,
    /// The connection for the flush. `None` once the flush has begun.
    flusher: Option<Client>,
    flush: Option<BackgroundStatement>,
}

impl Flushed {
    pub(super) fn new(kind: &'static Flush, client: Client, flusher: Client) -> Self {
        Self { kind, client, flusher: Some(flusher), flush: None }
    }
}

impl Backlog for Flushed {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        let mut amounts = Vec::new();
        if let Some(flush) = &mut self.flush {
            // The number of flushes is read before the amounts. So if it is 0, the amounts were read after the flush.
            amounts.push(DrainAmount::down_to(0.0, "flushes under way", flush.left()?));
        }
        for Amount { name, sql, goal } in self.kind.amounts {
            let value = number(&mut self.client, sql)?;
            amounts.extend(value.map(|value| DrainAmount::down_to(*goal, name, value)));
        }
        Ok(amounts)
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        let statements = self.kind.statements;
        self.flush = self.flusher.take().map(|client| BackgroundStatement::start(client, statements));
        Ok(())
    }

    /// Does nothing. A flush cannot be cancelled, and ends by itself.
    fn end(&mut self) -> Result<(), DrainError> {
        Ok(())
    }
}
