//! What settings promise for a crash of one kind.

use std::fmt;

use dyno_engine::Family;
use serde::{Deserialize, Serialize};

use super::durability::Durability;
use super::facts::SystemFacts;

/// A kind of crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrashKind {
    /// The server's processes are killed. The operating system keeps the data that the processes have written.
    Process,
    /// The power is cut. All data that was not flushed to the disk is lost.
    Power,
}

/// Which acknowledged commits may be lost, the fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    Nothing,
    /// The commits of about the last second before the crash may be lost.
    Second,
    /// Any number of the most recent commits may be lost.
    Last,
    All,
    /// The settings do not tell which commits may be lost.
    Unknown,
}

/// What a system's settings promise for a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Which acknowledged commits may be lost.
    pub loss: Loss,
    /// Whether every transaction, row and table that is present after the crash is complete.
    pub is_whole: bool,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.loss {
            Loss::Nothing => "no acknowledged commit is lost",
            Loss::Second => "commits of about the last second may be lost",
            Loss::Last => "any number of the last commits may be lost",
            Loss::All => "everything may be lost",
            Loss::Unknown => "nothing that dyno knows of",
        })?;
        f.write_str(if self.is_whole { "" } else { ", and what is left may be damaged" })
    }
}

impl SystemFacts {
    /// What the system's settings promise for a crash.
    pub fn promise(&self, crash: CrashKind) -> Promise {
        let loss = match crash {
            CrashKind::Process => self.loss_when_killed(),
            CrashKind::Power => match self.durability() {
                Durability::Durable => Loss::Nothing,
                Durability::Second => Loss::Second,
                Durability::Os => Loss::Last,
                Durability::None => Loss::All,
                Durability::Unknown => Loss::Unknown,
            },
        };
        let may_be_torn = crash == CrashKind::Power && self.survives_torn_pages() == Some(false);
        Promise { loss, is_whole: loss != Loss::All && !may_be_torn }
    }

    /// Which commits may be lost when the processes are killed, because they are only in the processes' own memory.
    fn loss_when_killed(&self) -> Loss {
        match self.product.family {
            Family::Mysql | Family::Mariadb => self.mysqld_loss_when_killed(),
            // If synchronous_commit is off, the log stays in the server's buffers for up to three times
            // wal_writer_delay.
            Family::Postgres => match self.word("synchronous_commit").as_deref() {
                Some("0") => Loss::Second,
                Some(_) => Loss::Nothing,
                None => Loss::Unknown,
            },
            // A rollback journal in memory cannot repair a half-written database file.
            Family::Sqlite => match self.word("journal_mode").as_deref() {
                Some("0" | "memory") => Loss::All,
                Some(_) => Loss::Nothing,
                None => Loss::Unknown,
            },
        }
    }

    fn mysqld_loss_when_killed(&self) -> Loss {
        let setting = match self.product.storage_engine.as_deref().unwrap_or("innodb") {
            "innodb" => "innodb_flush_log_at_trx_commit",
            "rocksdb" if self.is_on("rocksdb_write_disable_wal") == Some(true) => return Loss::All,
            "rocksdb" => "rocksdb_flush_log_at_trx_commit",
            "myisam" | "memory" => return Loss::All,
            _ => return Loss::Unknown,
        };
        match self.word(setting).as_deref() {
            // With 0, the log stays in the server's buffer for up to a second.
            Some("0") => Loss::Second,
            Some(_) => Loss::Nothing,
            None => Loss::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::system;

    fn loss(name: &str, crash: CrashKind, variables: &[(&str, &str)]) -> Loss {
        system("s", name, variables).promise(crash).loss
    }

    #[test]
    fn innodb_keeps_a_killed_server_s_commits_unless_they_are_in_its_own_buffer() {
        let flush = |value| [("innodb_flush_log_at_trx_commit", value)];
        for (value, killed, cut) in [
            ("0", Loss::Second, Loss::Second),
            ("1", Loss::Nothing, Loss::Nothing),
            ("2", Loss::Nothing, Loss::Second),
        ] {
            assert_eq!(loss("mysql 5.6.24", CrashKind::Process, &flush(value)), killed);
            assert_eq!(loss("mysql 5.6.24", CrashKind::Power, &flush(value)), cut);
        }
        assert_eq!(loss("mysql 5.6.24", CrashKind::Process, &[]), Loss::Unknown);
        assert_eq!(loss("mysql 5.6.24/myisam", CrashKind::Process, &[]), Loss::All);
    }

    #[test]
    fn myrocks_postgres_and_sqlite_have_settings_of_their_own() {
        let rocks = [("rocksdb_flush_log_at_trx_commit", "2")];
        assert_eq!(loss("mariadb 10.11/rocksdb", CrashKind::Process, &rocks), Loss::Nothing);
        assert_eq!(loss("mariadb 10.11/rocksdb", CrashKind::Power, &rocks), Loss::Second);
        let postgres = [("fsync", "off"), ("synchronous_commit", "on")];
        assert_eq!(loss("postgres 18.4", CrashKind::Process, &postgres), Loss::Nothing);
        assert_eq!(loss("postgres 18.4", CrashKind::Power, &postgres), Loss::All);
        let sqlite = [("journal_mode", "wal"), ("synchronous", "1")];
        assert_eq!(loss("sqlite 3", CrashKind::Process, &sqlite), Loss::Nothing);
        assert_eq!(loss("sqlite 3", CrashKind::Power, &sqlite), Loss::Last);
    }

    #[test]
    fn torn_pages_are_promised_for_a_power_cut_only_where_they_are_repaired() {
        let variables = [("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "OFF")];
        let system = system("s", "mysql 5.6.24", &variables);
        assert!(system.promise(CrashKind::Process).is_whole);
        assert!(!system.promise(CrashKind::Power).is_whole);
    }
}
