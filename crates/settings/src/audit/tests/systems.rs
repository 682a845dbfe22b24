//! Tests of the rules on systems. Each rule has a case in which it fires, and a case in which it does not.

use crate::audit::testing::{said, system};
use crate::audit::{HostChecks, SystemFacts, SystemLimits};

const MYSQL: &str = "mysql 8.0.33";
const MYROCKS: &str = "mariadb 10.11/rocksdb";
const POSTGRES: &str = "postgres 18.4";

fn of(rule: &str, systems: &[SystemFacts]) -> Vec<String> {
    said(rule, systems, &HostChecks::default())
}

/// Checks that a rule fires for two MySQL servers that differ in a variable, but not for two servers that are
/// alike.
fn differs(rule: &str, variable: &str, a: &str, b: &str, expected: &str) {
    let server = |id, value| system(id, MYSQL, &[(variable, value)]);
    assert_eq!(of(rule, &[server("a", a), server("b", b)]), [expected]);
    assert_eq!(of(rule, &[server("a", a), server("b", a)]), [""; 0]);
    assert_eq!(of(rule, &[server("a", a), system("b", POSTGRES, &[])]), [""; 0]);
}

#[test]
fn rules_about_one_variable() {
    differs(
        "checksum-kind-differs",
        "innodb_checksum_algorithm",
        "crc32",
        "innodb",
        "a: checksum crc32; b: checksum innodb",
    );
    differs(
        "adaptive-hash-differs",
        "innodb_adaptive_hash_index",
        "ON",
        "OFF",
        "b: adaptive hash index off; a: adaptive hash index on",
    );
    differs(
        "change-buffering-differs",
        "innodb_change_buffering",
        "all",
        "none",
        "a: change buffering all; b: change buffering none",
    );
    differs(
        "io-capacity-differs",
        "innodb_io_capacity",
        "200",
        "10000",
        "a: aims at 200 background writes a second; b: aims at 10000 background writes a second",
    );
    differs(
        "flush-neighbors-differs",
        "innodb_flush_neighbors",
        "0",
        "1",
        "a: writes single pages; b: writes neighbours too",
    );
    differs(
        "performance-schema-differs",
        "performance_schema",
        "ON",
        "OFF",
        "b: performance_schema off; a: performance_schema on",
    );
    differs("binlog-differs", "log_bin", "ON", "OFF", "b: writes no binlog; a: writes a binlog");
    differs(
        "cache-warm",
        "innodb_buffer_pool_load_at_startup",
        "ON",
        "OFF",
        "b: starts cold; a: fills its cache at the start",
    );
    differs("sql-mode-differs", "sql_mode", "ANSI", "", "b: sql_mode \"\"; a: sql_mode \"ansi\"");
    differs(
        "snapshot-isolation-differs",
        "innodb_snapshot_isolation",
        "ON",
        "OFF",
        "b: a write conflict is not noticed; a: a write conflict is an error",
    );
}

#[test]
fn a_version_without_the_variable_counts_for_what_it_always_does() {
    let old = system("old", "mysql 5.5.34", &[]);
    let new = system("new", MYSQL, &[("eq_range_index_dive_limit", "200")]);
    assert_eq!(
        of("dive-limit-differs", &[old, new.clone()]),
        ["old: plans each IN list by dives into the index; \
          new: plans IN lists of fewer than 200 values by dives into the index"]
    );
    assert_eq!(of("dive-limit-differs", &[new.clone(), new]), [""; 0]);
    let mariadb = system("m", "mariadb 11.8", &[]);
    let mysql = system("p", "mysql 9.7.4", &[("innodb_change_buffering", "none")]);
    assert_eq!(of("change-buffering-differs", &[mariadb, mysql]), [""; 0]);
}

#[test]
fn torn_pages() {
    let safe = system("a", MYSQL, &[("innodb_doublewrite", "ON")]);
    let unsafe_page = system("b", POSTGRES, &[("full_page_writes", "off")]);
    let lsm = system("c", MYROCKS, &[("innodb_doublewrite", "OFF")]);
    assert_eq!(
        of("torn-pages-differ", &[safe.clone(), unsafe_page.clone(), lsm.clone()]),
        ["a and c: can; b: cannot repair a half-written page"]
    );
    assert_eq!(of("torn-pages-differ", &[safe.clone(), lsm.clone()]), [""; 0]);
    assert_eq!(
        of("torn-pages", &[safe.clone(), unsafe_page]),
        ["b cannot repair a page that is half written at a power cut"]
    );
    assert_eq!(of("torn-pages", &[safe, lsm]), [""; 0]);
    let sqlite = |level| system("s", "sqlite 3", &[("journal_mode", "delete"), ("synchronous", level)]);
    assert_eq!(of("torn-pages", &[sqlite("1")]).len(), 1);
    assert_eq!(of("torn-pages", &[sqlite("2")]), [""; 0]);
    assert_eq!(of("torn-pages", &[system("d", MYSQL, &[("innodb_doublewrite", "DETECT_ONLY")])]).len(), 1);
}

#[test]
fn checksums() {
    let on = system("a", MYSQL, &[("innodb_checksum_algorithm", "crc32")]);
    let off = system("b", POSTGRES, &[("data_checksums", "off")]);
    assert_eq!(of("checksums-differ", &[on.clone(), off]), ["a: page checksums; b: no page checksums"]);
    let old = system("c", "mysql 5.5.34", &[("innodb_checksums", "ON")]);
    assert_eq!(of("checksums-differ", &[on.clone(), old, system("d", MYROCKS, &[])]), [""; 0]);
    let full = system("e", "mariadb 11.8", &[("innodb_checksum_algorithm", "full_crc32")]);
    assert_eq!(of("checksum-kind-differs", &[on, full]), [""; 0]);
}

#[test]
fn isolation_by_whatever_name() {
    let old = system("a", "mysql 5.6.24", &[("tx_isolation", "REPEATABLE-READ")]);
    let new = system("b", MYSQL, &[("transaction_isolation", "REPEATABLE-READ")]);
    let other = system("c", POSTGRES, &[("default_transaction_isolation", "read committed")]);
    assert_eq!(of("isolation-differs", &[old.clone(), new.clone()]), [""; 0]);
    assert_eq!(
        of("isolation-differs", &[old, new, other]),
        ["c: transactions are read committed; a and b: transactions are repeatable read"]
    );
}

#[test]
fn character_sets() {
    let latin = system("a", MYSQL, &[("character_set_server", "latin1")]);
    let collated = |id, collation| {
        system(id, MYSQL, &[("character_set_server", "utf8mb4"), ("collation_server", collation)])
    };
    let postgres = system("p", POSTGRES, &[("server_encoding", "UTF8")]);
    let (ai, bin) = (collated("b", "utf8mb4_0900_ai_ci"), collated("c", "utf8mb4_bin"));
    assert_eq!(
        of("character-set-differs", &[latin.clone(), ai.clone()]),
        ["a: character set latin1; b: character set utf-8"]
    );
    assert_eq!(of("character-set-differs", &[ai.clone(), postgres]), [""; 0]);
    assert_eq!(
        of("collation-differs", &[ai.clone(), bin]),
        ["b: collation utf8mb4_0900_ai_ci; c: collation utf8mb4_bin"]
    );
    assert_eq!(of("collation-differs", &[ai.clone(), ai]), [""; 0]);
    let other =
        system("d", MYSQL, &[("character_set_server", "utf8mb4"), ("collation_server", "utf8mb4_bin")]);
    assert_eq!(of("collation-differs", &[latin, other]), [""; 0], "said by the rule about character sets");
}

#[test]
fn caches_and_logs_by_size() {
    let innodb = system(
        "a",
        MYSQL,
        &[("innodb_buffer_pool_size", "134217728"), ("innodb_redo_log_capacity", "104857600")],
    );
    let rocks =
        system("b", MYROCKS, &[("innodb_buffer_pool_size", "16M"), ("rocksdb_block_cache_size", "128M")]);
    let postgres = system("c", POSTGRES, &[("shared_buffers", "1GB"), ("max_wal_size", "1GB")]);
    assert_eq!(of("cache-differs", &[innodb.clone(), rocks.clone()]), [""; 0]);
    assert_eq!(
        of("cache-differs", &[innodb.clone(), rocks, postgres.clone()]),
        ["a and b: cache of 128 MB; c: cache of 1024 MB"]
    );
    let sqlite = |size, page| system("s", "sqlite 3", &[("cache_size", size), ("page_size", page)]);
    assert_eq!(of("cache-differs", &[sqlite("-8192", "4096"), sqlite("2048", "4096")]), [""; 0]);
    assert_eq!(of("log-size-differs", &[innodb.clone(), postgres]), ["a: log of 100 MB; c: log of 1024 MB"]);
    let files = [("innodb_log_file_size", "50331648"), ("innodb_log_files_in_group", "2")];
    let old = system("d", "mysql 5.6.24", &files);
    assert_eq!(of("log-size-differs", &[innodb, old.clone()]), [""; 0]);
    // With the same my.cnf, MariaDB's log is half as large as MySQL's. Since 10.5, MariaDB has only one log file,
    // whatever number of files it reports.
    assert_eq!(of("log-size-differs", &[old.clone(), system("e", "mariadb 10.4.34", &files)]), [""; 0]);
    for (version, reported) in [("mariadb 10.5.29", &files[..]), ("mariadb 10.11", &files[..1])] {
        assert_eq!(
            of("log-size-differs", &[old.clone(), system("e", version, reported)]),
            ["e: log of 48 MB; d: log of 96 MB"],
            "{version}"
        );
    }
}

#[test]
fn the_page_cache_on_top() {
    let direct = system("a", MYSQL, &[("innodb_flush_method", "O_DIRECT")]);
    let four = system("b", "mariadb 11.8", &[("innodb_data_file_buffering", "OFF")]);
    let buffered = system("c", MYSQL, &[("innodb_flush_method", "fsync")]);
    assert_eq!(of("double-cache-differs", &[direct.clone(), four]), [""; 0]);
    assert_eq!(
        of("double-cache-differs", &[direct.clone(), buffered]),
        ["c: has the system's page cache on top; a: bypasses the system's page cache"]
    );
    let rocks = system("d", MYROCKS, &[("rocksdb_use_direct_reads", "ON")]);
    assert_eq!(of("double-cache-differs", &[direct, rocks]), [""; 0]);
}

#[test]
fn logs_of_statements() {
    for (name, variables) in [
        (MYSQL, &[("general_log", "ON")][..]),
        (MYSQL, &[("slow_query_log", "ON"), ("long_query_time", "0.000000")]),
        (POSTGRES, &[("log_statement", "all")]),
        (POSTGRES, &[("log_min_duration_statement", "0")]),
    ] {
        assert_eq!(
            of("statement-log", &[system("a", name, variables)]),
            ["a writes every statement to a log"]
        );
    }
    for (name, variables) in [
        (MYSQL, &[("general_log", "OFF"), ("slow_query_log", "ON"), ("long_query_time", "10.000000")][..]),
        (POSTGRES, &[("log_statement", "none"), ("log_min_duration_statement", "-1")]),
    ] {
        assert_eq!(of("statement-log", &[system("a", name, variables)]), [""; 0]);
    }
}

#[test]
fn binlogs_of_different_things() {
    let server = |id, on, format| system(id, MYSQL, &[("log_bin", on), ("binlog_format", format)]);
    assert_eq!(
        of("binlog-format-differs", &[server("a", "ON", "ROW"), server("b", "ON", "STATEMENT")]),
        ["a: binlog of rows; b: binlog of statements"]
    );
    assert_eq!(
        of("binlog-format-differs", &[server("a", "ON", "ROW"), server("b", "OFF", "STATEMENT")]),
        [""; 0]
    );
}

#[test]
fn query_caches() {
    let server =
        |kind, size| system("a", "mysql 5.5.34", &[("query_cache_type", kind), ("query_cache_size", size)]);
    assert_eq!(of("query-cache", &[server("ON", "1048576")]), ["a may answer from its query cache"]);
    assert_eq!(of("query-cache", &[server("ON", "0")]), [""; 0]);
    assert_eq!(of("query-cache", &[server("OFF", "1048576")]), [""; 0]);
    assert_eq!(of("query-cache", &[system("b", MYSQL, &[])]), [""; 0]);
}

#[test]
fn rules_about_postgres() {
    let jit = |id, version: &str, on: &[(&str, &str)]| system(id, &format!("postgres {version}"), on);
    assert_eq!(
        of("jit-differs", &[jit("a", "9.6", &[]), jit("b", "18", &[("jit", "on")])]),
        ["a: does not compile queries; b: compiles queries"]
    );
    assert_eq!(of("jit-differs", &[jit("a", "9.6", &[]), jit("b", "18", &[("jit", "off")])]), [""; 0]);
    let helped = system("a", POSTGRES, &[("max_parallel_workers_per_gather", "2")]);
    assert_eq!(
        of("parallel-query-differs", &[helped, system("b", MYSQL, &[])]),
        ["b: up to 1 cores a query; a: up to 3 cores a query"]
    );
    let alone = system("a", POSTGRES, &[("max_parallel_workers_per_gather", "0")]);
    assert_eq!(of("parallel-query-differs", &[alone, system("b", MYSQL, &[])]), [""; 0]);
    assert_eq!(
        of("autovacuum-off", &[system("a", POSTGRES, &[("autovacuum", "off")])]),
        ["a does not vacuum"]
    );
    assert_eq!(of("autovacuum-off", &[system("a", POSTGRES, &[("autovacuum", "on")])]), [""; 0]);
}

#[test]
fn debug_builds() {
    for debug in [
        system("a", MYSQL, &[("version", "8.0.33-debug")]),
        system("a", "mariadb 10.11", &[("version_comment", "Source distribution, debug")]),
        system("a", POSTGRES, &[("debug_assertions", "on")]),
    ] {
        assert_eq!(of("debug-build", &[debug]), ["a is a debug build"]);
    }
    let plain =
        system("a", MYSQL, &[("version", "8.0.33"), ("version_comment", "MySQL Community Server - GPL")]);
    assert_eq!(of("debug-build", &[plain, system("b", POSTGRES, &[("debug_assertions", "off")])]), [""; 0]);
}

#[test]
fn limits_of_the_host() {
    let limited = |id, asked: &[(&str, &str)], differences: &[&str], not_limited: &[&str]| {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let limits = SystemLimits {
            asked: asked.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            differences: lines(differences),
            not_limited: lines(not_limited),
        };
        SystemFacts { limits: Some(limits), ..system(id, MYSQL, &[]) }
    };
    let memory = [("memory_bytes", "268435456"), ("write_iops", "500")];
    let whole = || limited("w", &[], &[], &[]);
    let alike = [limited("a", &memory, &[], &[]), limited("b", &memory, &[], &[]), system("dsn", MYSQL, &[])];
    for rule in ["limit-not-in-force", "not-limited", "confinement-differs"] {
        assert_eq!(of(rule, &alike), [""; 0], "{rule}");
    }
    assert_eq!(
        of("confinement-differs", &[limited("a", &memory, &[], &[]), whole()]),
        ["a: memory_bytes 268435456, write_iops 500; w: the whole host"]
    );
    let changed = limited("a", &memory, &["memory is 512M, not 256M"], &["swap", "the page cache below"]);
    assert_eq!(of("limit-not-in-force", &[changed.clone(), whole()]), ["a: memory is 512M, not 256M"]);
    assert_eq!(of("not-limited", &[changed, whole()]), ["a: swap", "a: the page cache below"]);
}

#[test]
fn layouts_on_disk() {
    let innodb = system("a", MYSQL, &[("innodb_page_size", "16384")]);
    let lz4 = "compression=kLZ4Compression;bottommost_compression=kZSTD";
    let rocks = |options| {
        system("b", MYROCKS, &[("rocksdb_default_cf_options", options), ("rocksdb_block_size", "4096")])
    };
    assert_eq!(
        of("compression-differs", &[innodb.clone(), rocks(lz4)]),
        ["a: does not compress its data; b: compresses its data"]
    );
    assert_eq!(of("compression-differs", &[innodb.clone(), rocks("compression=kNoCompression")]), [""; 0]);
    assert_eq!(
        of("page-size-differs", &[innodb.clone(), rocks(lz4)]),
        ["b: pages of 4096 bytes; a: pages of 16384 bytes"]
    );
    assert_eq!(of("page-size-differs", &[innodb.clone(), innodb]), [""; 0]);
}

#[test]
fn settings_that_are_not_in_force_are_told_and_make_systems_the_same() {
    let asked = |id, instances: &str| SystemFacts {
        asked: [("innodb_buffer_pool_instances".to_owned(), instances.to_owned())].into(),
        ..system(id, MYSQL, &[("innodb_buffer_pool_instances", "1")])
    };
    let systems = [asked("a", "1"), asked("b", "8"), asked("c", "16")];
    assert_eq!(
        of("setting-not-in-force", &systems),
        [
            "b was asked for innodb_buffer_pool_instances = 8 (the server has 1)",
            "c was asked for innodb_buffer_pool_instances = 16 (the server has 1)"
        ]
    );
    assert_eq!(
        of("same-in-force", &systems),
        [
            "b is the same system as a: not in force is innodb_buffer_pool_instances = 8 (the server has 1)",
            "c is the same system as a: not in force is innodb_buffer_pool_instances = 16 (the server has 1)"
        ]
    );
    assert_eq!(of("setting-not-in-force", &systems[..1]), [""; 0]);
    assert_eq!(of("same-in-force", &[asked("a", "1"), asked("b", "1")]), [""; 0]);
}
