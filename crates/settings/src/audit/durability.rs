//! Durability: what an acknowledged commit survives.

use std::fmt;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};

use super::facts::SystemFacts;

/// What an acknowledged commit survives, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    Durable,
    /// A commit survives a power cut, unless it was made in about the last second before the power cut.
    Second,
    /// A commit survives a crash of the process. A power cut may lose any number of the most recent commits.
    Os,
    /// A crash may lose all data.
    None,
    /// The settings do not tell what a commit survives.
    Unknown,
}

impl Durability {
    /// Describes the class, in words that follow a system's name.
    pub(super) fn explain(self) -> &'static str {
        match self {
            Self::Durable => "waits for the disk at each commit",
            Self::Second => "may lose the last second at a power cut",
            Self::Os => "leaves it to the operating system when commits reach the disk",
            Self::None => "may lose everything at a crash",
            Self::Unknown => "does not tell whether it waits for the disk",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Durable => "durable",
            Self::Second => "second",
            Self::Os => "os",
            Self::None => "none",
            Self::Unknown => "unknown",
        })
    }
}

impl SystemFacts {
    /// What the system's commits survive.
    pub fn durability(&self) -> Durability {
        match self.product.family {
            Family::Mysql | Family::Mariadb => self.mysqld_durability(),
            Family::Postgres => self.postgres_durability(),
            Family::Sqlite => self.sqlite_durability(),
        }
    }

    fn mysqld_durability(&self) -> Durability {
        let of_engine = match self.product.storage_engine.as_deref().unwrap_or("innodb") {
            "innodb" if self.skips_syncs() => Durability::None,
            "innodb" => at_commit(self.word("innodb_flush_log_at_trx_commit").as_deref()),
            "rocksdb" if self.is_on("rocksdb_write_disable_wal") == Some(true) => Durability::None,
            "rocksdb" => at_commit(self.word("rocksdb_flush_log_at_trx_commit").as_deref()),
            "myisam" | "memory" => Durability::None,
            _ => Durability::Unknown,
        };
        // A commit is only as durable as the binlog: after a crash, transactions that are in the engine's log but not
        // in the binlog are rolled back.
        let of_binlog = if self.has_unsynced_binlog() { Durability::Os } else { Durability::Durable };
        of_engine.max(of_binlog)
    }

    /// Whether a binlog is written but commits do not wait until it is on disk.
    pub(super) fn has_unsynced_binlog(&self) -> bool {
        self.is_on("log_bin") == Some(true) && self.word("sync_binlog").is_some_and(|every| every != "1")
    }

    fn skips_syncs(&self) -> bool {
        self.word("innodb_flush_method").is_some_and(|method| method == "nosync" || method == "littlesync")
    }

    fn postgres_durability(&self) -> Durability {
        match (self.is_on("fsync"), self.word("synchronous_commit").as_deref()) {
            (Some(false), _) => Durability::None,
            // A commit is on disk after at most three times wal_writer_delay, which is 0.6 s by default.
            (Some(true), Some("0")) => Durability::Second,
            (Some(true), Some(_)) => Durability::Durable,
            _ => Durability::Unknown,
        }
    }

    /// Returns what a commit in SQLite survives. See <https://www.sqlite.org/pragma.html#pragma_synchronous>.
    fn sqlite_durability(&self) -> Durability {
        let (Some(journal), Some(level)) = (self.word("journal_mode"), self.sqlite_sync_level()) else {
            return Durability::Unknown;
        };
        match (journal.as_str(), level) {
            ("0" | "memory", _) => Durability::None,
            (_, 0) | ("wal", 1) => Durability::Os,
            _ => Durability::Durable,
        }
    }

    /// `PRAGMA synchronous` as a number, which is how SQLite reports it.
    pub(super) fn sqlite_sync_level(&self) -> Option<u8> {
        match self.word("synchronous")?.as_str() {
            "0" => Some(0),
            "1" | "normal" => Some(1),
            "2" | "full" => Some(2),
            "3" | "extra" => Some(3),
            _ => None,
        }
    }
}

/// What a value of `…_flush_log_at_trx_commit` promises.
fn at_commit(setting: Option<&str>) -> Durability {
    match setting {
        Some("1") => Durability::Durable,
        Some(_) => Durability::Second,
        None => Durability::Unknown,
    }
}
