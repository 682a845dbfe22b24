use std::collections::BTreeMap;

use crate::audit::facts::SystemFacts;
use crate::facts::product::Product;

fn system(product: &str, asked: &[(&str, &str)], reported: &[(&str, &str)]) -> SystemFacts {
    let (family, version) = product.split_once(' ').unwrap();
    let family = serde_json::from_value(serde_json::json!(family)).unwrap();
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    SystemFacts {
        id: "s".to_owned(),
        product: Product { family, version: version.parse().unwrap(), storage_engine: None },
        // Real servers also report many variables that were not requested. These two stand for them.
        variables: map(&[reported, &[("version", "1"), ("innodb_cmp_per_index_enabled", "OFF")]].concat()),
        asked: map(asked),
        limits: None,
    }
}

/// The settings that are not in force: each name with the server's value, or with `ignored`.
fn told(product: &str, asked: &[(&str, &str)], reported: &[(&str, &str)]) -> Vec<String> {
    let found = system(product, asked, reported).not_in_force().into_iter();
    found.map(|it| format!("{} {}", it.name, it.found.as_deref().unwrap_or("ignored"))).collect()
}

fn has(product: &str, name: &str, asked: &str, variable: &str, found: &str) {
    assert_eq!(told(product, &[(name, asked)], &[(variable, found)]), [""; 0], "{name} = {asked}: {found}");
}

fn lacks(product: &str, name: &str, asked: &str, variable: &str, found: &str) {
    let told = told(product, &[(name, asked)], &[(variable, found)]);
    assert_eq!(told, [format!("{name} {found}")], "{name} = {asked}: {found}");
}

#[test]
fn values_that_mysqld_cut_or_raised_are_told() {
    for (name, asked, found) in [
        ("innodb_buffer_pool_instances", "8", "1"),
        ("max_connections", "90000", "866"),
        ("table_open_cache", "2000000", "200"),
        ("sort_buffer_size", "1K", "32768"),
        ("innodb_io_capacity_max", "100", "200"),
        ("innodb_buffer_pool_size", "130M", "268435456"),
        ("innodb_use_native_aio", "ON", "OFF"),
        ("performance_schema", "1", "OFF"),
        ("innodb_flush_method", "O_DIRECT", "fsync"),
        ("innodb_flush_method", "4", "fsync"),
        ("binlog_format", "2", "MIXED"),
        ("query_cache_type", "DEMAND", "OFF"),
        ("sql_mode", "ANSI,STRICT_ALL_TABLES", "NO_ENGINE_SUBSTITUTION"),
        ("sql_mode", "", "STRICT_TRANS_TABLES,NO_ZERO_DATE"),
        ("optimizer_switch", "mrr=off", "index_merge=on,mrr=on"),
        ("collation_server", "latin1_bin", "latin1_swedish_ci"),
        ("rocksdb_default_cf_options", "write_buffer_size=1m", "write_buffer_size=64m"),
        ("tmpdir", "/var/a", "/var/b"),
        ("long_query_time", "0.5", "10.000000"),
    ] {
        lacks("mysql 9.7.4", name, asked, name, found);
    }
}

#[test]
fn what_a_server_says_in_other_words_is_in_force() {
    for (name, asked, found) in [
        ("innodb_buffer_pool_size", "128M", "134217728"),
        // The server rounds these sizes to multiples of 1 MiB and of 1 KiB.
        ("innodb_buffer_pool_size", "10486k", "11534336"),
        ("max_allowed_packet", "1000001", "999424"),
        ("innodb_max_dirty_pages_pct", "75", "75.000000"),
        ("innodb_doublewrite", "1", "ON"),
        ("innodb_flush_method", "O_DIRECT", "O_DIRECT"),
        ("innodb_flush_method", "4", "O_DIRECT"),
        ("innodb_change_buffering", "0", "none"),
        ("binlog_format", "2", "ROW"),
        ("binlog_format", "row", "ROW"),
        ("binlog_format", "1", "STATEMENT"),
        ("innodb_buffer_pool_instances", "0", "8"),
        ("table_definition_cache", "-1", "2000"),
        ("thread_cache_size", "AUTOSIZE", "9"),
        ("open_files_limit", "1024", "1048576"),
        ("max_binlog_cache_size", "18446744073709551615", "18446744073709547520"),
        ("sql_mode", "TRADITIONAL", "STRICT_TRANS_TABLES,TRADITIONAL,NO_ZERO_DATE"),
        ("sql_mode", "NO_ZERO_DATE, STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE"),
        ("optimizer_switch", "mrr=off,default", "index_merge=on,mrr=off"),
        ("character_set_server", "utf8", "utf8mb3"),
        ("collation_server", "utf8_general_ci", "utf8mb3_general_ci"),
        ("datadir", "data/", "/var/lib/dyno/data/"),
        ("innodb_undo_directory", "./undo", "undo/"),
        ("log_bin", "binlog", "ON"),
        ("rocksdb_default_cf_options", "write_buffer_size=64m; a=b", "a=b;write_buffer_size=64m;"),
        ("default_storage_engine", "innodb", "InnoDB"),
        ("rocksdb_max_open_files", "-2", "512"),
    ] {
        has("mysql 9.7.4", name, asked, name, found);
    }
}

#[test]
fn options_of_mysqld_have_several_names() {
    for (name, asked, variable, found) in [
        ("Sort-Buffer-Size", "1M", "sort_buffer_size", "1048576"),
        ("transaction_isolation", "READ-COMMITTED", "tx_isolation", "READ-COMMITTED"),
        ("tx-isolation", "1", "transaction_isolation", "READ-COMMITTED"),
        ("loose_sort_buffer_size", "1M", "sort_buffer_size", "1048576"),
        ("skip_log_bin", "1", "log_bin", "OFF"),
        ("loose-skip-log-bin", "", "log_bin", "OFF"),
        ("disable_performance_schema", "1", "performance_schema", "OFF"),
        ("enable-performance-schema", "1", "performance_schema", "ON"),
        ("skip_name_resolve", "1", "skip_name_resolve", "ON"),
        ("maximum_sort_buffer_size", "1M", "sort_buffer_size", "262144"),
        ("innodb_buffer_pool_siz", "1G", "innodb_buffer_pool_size", "1073741824"),
        ("default_time_zone", "+01:00", "time_zone", "+01:00"),
    ] {
        has("mysql 8.0.33", name, asked, variable, found);
    }
    for (name, asked, variable, found) in [
        ("loose_sort_buffer_size", "1K", "sort_buffer_size", "32768"),
        ("skip_log_bin", "1", "log_bin", "ON"),
        ("enable_performance_schema", "1", "performance_schema", "OFF"),
        ("table_cache", "2000000", "table_open_cache", "200"),
        ("key_buffer", "1M", "key_buffer_size", "8388608"),
    ] {
        lacks("mysql 8.0.33", name, asked, variable, found);
    }
}

#[test]
fn settings_that_a_server_takes_and_ignores_are_told_and_options_without_a_variable_are_not() {
    let asked = [
        ("loose_no_such_thing", "5"),
        ("loose_innodb_buffer_pool_instances", "16"),
        ("innodb_log_files_in_group", "2"),
        ("innodb_cmp", "ON"),
        ("performance_schema_instrument", "wait/%=ON"),
        ("loose_performance_schema_instrument", "wait/%=ON"),
    ];
    assert_eq!(
        told("mariadb 10.11", &asked, &[]),
        [
            "innodb_log_files_in_group ignored",
            "loose_innodb_buffer_pool_instances ignored",
            "loose_no_such_thing ignored"
        ]
    );
    assert_eq!(told("mysql 9.7.4", &[], &[]), [""; 0]);
}

#[test]
fn postgres_writes_units_and_takes_numbers_in_its_own() {
    for (name, asked, found) in [
        ("shared_buffers", "16384", "128MB"),
        ("shared_buffers", "131072kB", "128MB"),
        ("work_mem", "4096", "4MB"),
        ("max_wal_size", "1024", "1GB"),
        ("checkpoint_timeout", "300", "5min"),
        ("checkpoint_timeout", "5min", "300s"),
        ("autovacuum_vacuum_cost_delay", "2", "2ms"),
        ("wal_buffers", "-1", "4MB"),
        ("wal_level", "hot_standby", "replica"),
        ("wal_compression", "on", "pglz"),
        ("DateStyle", "ISO", "ISO, MDY"),
        ("fsync", "true", "on"),
        ("TimeZone", "UTC", "Etc/UTC"),
    ] {
        has("postgres 18.4", name, asked, name, found);
    }
    for (name, asked, found) in [
        ("work_mem", "4096", "5MB"),
        ("shared_buffers", "1GB", "128MB"),
        ("checkpoint_timeout", "10min", "5min"),
        ("fsync", "off", "on"),
        ("wal_level", "minimal", "replica"),
    ] {
        lacks("postgres 18.4", name, asked, name, found);
    }
}

#[test]
fn sqlite_has_numbers_for_words_and_keeps_what_it_cannot_change() {
    for (name, asked, found) in
        [("synchronous", "FULL", "2"), ("journal_mode", "WAL", "wal"), ("cache_size", "-65536", "-65536")]
    {
        has("sqlite 3.50", name, asked, name, found);
    }
    lacks("sqlite 3.50", "synchronous", "EXTRA", "synchronous", "1");
    lacks("sqlite 3.50", "journal_mode", "WAL", "journal_mode", "memory");
    lacks("sqlite 3.50", "mmap_size", "1073741824", "mmap_size", "0");
}

#[test]
fn systems_are_the_same_if_nothing_is_in_force_in_which_they_were_to_differ() {
    let mysql = |asked: &[(&str, &str)], reported: &[(&str, &str)]| system("mysql 9.7.4", asked, reported);
    let one = [("innodb_buffer_pool_instances", "1")];
    let (few, many) = (mysql(&one, &one), mysql(&[("innodb-buffer-pool-instances", "8")], &one));
    let same = few.same_in_force(&many).unwrap();
    assert_eq!(same.len(), 1);
    assert_eq!(same[0].to_string(), "innodb-buffer-pool-instances = 8 (the server has 1)");
    assert!(many.same_in_force(&mysql(&[], &one)).is_some(), "its default is what the other has");
    assert_eq!(few.same_in_force(&mysql(&[], &one)), None, "what was asked for is in force");
    assert_eq!(few.same_in_force(&few), None, "nobody asked for a difference");

    let other = [("innodb_buffer_pool_instances", "1"), ("sort_buffer_size", "1048576")];
    assert_eq!(few.same_in_force(&mysql(&[("innodb_buffer_pool_instances", "8")], &other)), None);
    let hidden = [("innodb_buffer_pool_instances", "8"), ("performance_schema_instrument", "%=ON")];
    assert_eq!(few.same_in_force(&mysql(&hidden, &one)), None, "what the other does is not known");
    let elsewhere = [("innodb_buffer_pool_instances", "8"), ("tmpdir", "/b")];
    assert_eq!(few.same_in_force(&mysql(&elsewhere, &[one[0], ("tmpdir", "/b")])), None);
    assert_eq!(
        few.same_in_force(&system("mysql 8.0.33", &[("innodb_buffer_pool_instances", "8")], &one)),
        None
    );
}

#[test]
fn a_variable_that_a_version_does_not_use_is_not_in_force() {
    let asked = [("innodb_log_files_in_group", "2"), ("innodb_buffer_pool_instances", "8")];
    // MariaDB 10.5 reports both variables as they were set, but uses neither.
    assert_eq!(
        told("mariadb 10.5.29", &asked, &asked),
        ["innodb_buffer_pool_instances 1", "innodb_log_files_in_group 1"]
    );
    assert_eq!(told("mariadb 10.5.29", &[("innodb_log_files_in_group", "1")], &asked), [""; 0]);
    assert_eq!(told("mariadb 10.4.34", &asked, &asked), [""; 0]);
    assert_eq!(told("mysql 8.0.29", &asked, &asked), [""; 0]);
}
