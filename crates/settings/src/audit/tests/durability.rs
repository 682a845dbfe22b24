//! Tests of durability classes and their rules.

use crate::audit::testing::{said, system};
use crate::audit::{Durability, HostChecks};

fn class(name: &str, variables: &[(&str, &str)]) -> Durability {
    system("s", name, variables).durability()
}

const FLUSH: &str = "innodb_flush_log_at_trx_commit";

#[test]
fn innodb_is_durable_where_log_and_binlog_wait() {
    assert_eq!(
        class("mysql 5.6.24", &[(FLUSH, "1"), ("log_bin", "OFF"), ("sync_binlog", "0")]),
        Durability::Durable
    );
    assert_eq!(
        class("mysql 8.0.33", &[(FLUSH, "1"), ("log_bin", "ON"), ("sync_binlog", "1")]),
        Durability::Durable
    );
    assert_eq!(
        class("mysql 8.0.33", &[(FLUSH, "1"), ("log_bin", "ON"), ("sync_binlog", "0")]),
        Durability::Os
    );
    assert_eq!(
        class("mysql 8.0.33", &[(FLUSH, "1"), ("log_bin", "ON"), ("sync_binlog", "100")]),
        Durability::Os
    );
    for lax in ["0", "2"] {
        assert_eq!(class("mariadb 11.8", &[(FLUSH, lax)]), Durability::Second);
    }
    assert_eq!(class("mysql 8.0.33", &[(FLUSH, "1"), ("innodb_flush_method", "nosync")]), Durability::None);
    assert_eq!(class("mysql 8.0.33", &[]), Durability::Unknown);
    assert_eq!(class("mysql 8.0.33/myisam", &[(FLUSH, "1")]), Durability::None);
    assert_eq!(class("mariadb 11.8/aria", &[(FLUSH, "1")]), Durability::Unknown);
}

#[test]
fn myrocks_has_a_log_of_its_own() {
    let myrocks = |variables| class("mariadb 10.11/rocksdb", variables);
    assert_eq!(myrocks(&[(FLUSH, "2"), ("rocksdb_flush_log_at_trx_commit", "1")]), Durability::Durable);
    assert_eq!(myrocks(&[(FLUSH, "1"), ("rocksdb_flush_log_at_trx_commit", "2")]), Durability::Second);
    assert_eq!(
        myrocks(&[("rocksdb_flush_log_at_trx_commit", "1"), ("rocksdb_write_disable_wal", "ON")]),
        Durability::None
    );
}

#[test]
fn postgres_says_so_in_two_settings() {
    let postgres =
        |fsync, commit| class("postgres 18.4", &[("fsync", fsync), ("synchronous_commit", commit)]);
    assert_eq!(postgres("on", "on"), Durability::Durable);
    assert_eq!(postgres("on", "local"), Durability::Durable);
    assert_eq!(postgres("on", "off"), Durability::Second);
    assert_eq!(postgres("off", "on"), Durability::None);
}

#[test]
fn sqlite_is_durable_by_journal_and_level_together() {
    let sqlite = |journal, level| class("sqlite 3", &[("journal_mode", journal), ("synchronous", level)]);
    assert_eq!(sqlite("delete", "2"), Durability::Durable);
    assert_eq!(sqlite("wal", "2"), Durability::Durable);
    assert_eq!(sqlite("WAL", "FULL"), Durability::Durable);
    assert_eq!(sqlite("wal", "1"), Durability::Os);
    assert_eq!(sqlite("delete", "0"), Durability::Os);
    assert_eq!(sqlite("memory", "2"), Durability::None);
    assert_eq!(sqlite("off", "2"), Durability::None);
    assert_eq!(sqlite("wal", "?"), Durability::Unknown);
}

#[test]
fn commits_that_survive_different_crashes_are_no_comparison() {
    let strict = system("a", "mysql 5.6.24", &[(FLUSH, "1")]);
    let lax = system("b", "mariadb 11.8", &[(FLUSH, "2")]);
    let host = HostChecks::default();
    assert_eq!(
        said("commit-differs", &[strict.clone(), lax.clone()], &host),
        [
            "a: waits for the disk at each commit (durable); b: may lose the last second at a power cut (second)"
        ]
    );
    assert_eq!(said("commit-differs", &[strict.clone(), strict.clone()], &host), [""; 0]);
    assert_eq!(
        said("commit-not-durable", &[strict.clone(), lax], &host),
        ["b may lose the last second at a power cut (second)"]
    );
    let silent = system("c", "mysql 5.6.24", &[]);
    assert_eq!(said("commit-differs", &[strict.clone(), silent.clone()], &host), [""; 0]);
    assert_eq!(
        said("commit-unknown", &[strict, silent], &host),
        ["c does not tell whether it waits for the disk"]
    );
}

#[test]
fn a_binlog_that_is_not_synced_undoes_the_promise_of_the_log() {
    let host = HostChecks::default();
    let said = |name: &str, variables: &[(&str, &str)]| {
        said("binlog-unsynced", &[system("a", name, variables)], &host)
    };
    assert_eq!(
        said("mysql 5.6.24", &[(FLUSH, "1"), ("log_bin", "ON"), ("sync_binlog", "0")]),
        ["a syncs its log at each commit, but not its binlog (sync_binlog = 0)"]
    );
    let rocks = "rocksdb_flush_log_at_trx_commit";
    assert_eq!(
        said("mariadb 10.11/rocksdb", &[(rocks, "1"), ("log_bin", "ON"), ("sync_binlog", "7")]).len(),
        1
    );
    assert_eq!(said("mysql 5.6.24", &[(FLUSH, "1"), ("log_bin", "OFF"), ("sync_binlog", "0")]), [""; 0]);
    assert_eq!(said("mysql 5.6.24", &[(FLUSH, "1"), ("log_bin", "ON"), ("sync_binlog", "1")]), [""; 0]);
    assert_eq!(said("mysql 5.6.24", &[(FLUSH, "2"), ("log_bin", "ON"), ("sync_binlog", "0")]), [""; 0]);
}
