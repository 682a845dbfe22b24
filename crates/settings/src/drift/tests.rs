use dyno_engine::Family;

use super::*;
use crate::facts::product::Product;

fn system(family: Family, version: &str, pairs: &[(&str, &str)]) -> SystemVariables {
    let product = Product { family, version: version.parse().unwrap(), storage_engine: None };
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    SystemVariables::new(version, product, pairs)
}

/// Formats differences as `name: value | value`, with a dash for a missing value.
fn lines(a: &SystemVariables, b: &SystemVariables) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    drift(a, b)
        .iter()
        .map(|difference| {
            let (a, b) = difference.values();
            format!("{}: {} | {}", difference.name, text(a), text(b))
        })
        .collect()
}

#[test]
fn what_differs_is_grouped_and_what_is_missing_is_told() {
    let a = system(
        Family::Mysql,
        "5.6.24",
        &[
            ("eq_range_index_dive_limit", "10"),
            ("innodb_doublewrite", "ON"),
            ("sync_binlog", "0"),
            ("timed_mutexes", "OFF"),
            ("wait_timeout", "28800"),
        ],
    );
    let b = system(
        Family::Mysql,
        "8.0.33",
        &[
            ("eq_range_index_dive_limit", "200"),
            ("innodb_doublewrite", "OFF"),
            ("sync_binlog", "1"),
            ("mysqlx_port", "33060"),
            ("wait_timeout", "28800"),
        ],
    );
    let groups: Vec<_> =
        drift(&a, &b).into_iter().map(|difference| (difference.group, difference.name)).collect();
    let expected = [
        (Group::Durability, "sync_binlog"),
        (Group::Integrity, "innodb_doublewrite"),
        (Group::Comparability, "eq_range_index_dive_limit"),
        (Group::Rest, "mysqlx_port"),
        (Group::Rest, "timed_mutexes"),
    ]
    .map(|(group, name)| (group, name.to_owned()));
    assert!(expected.iter().all(|one| groups.contains(one)), "{groups:?}");
    assert!(groups.is_sorted());
    assert!(lines(&a, &b).contains(&"timed_mutexes: OFF | -".to_owned()));
    assert!(lines(&a, &b).contains(&"eq_range_index_dive_limit: 10 | 200".to_owned()));
    let about = &drift(&a, &b)[0].about;
    assert!(about.as_ref().unwrap().contains("binlog"), "{about:?}");
}

#[test]
fn what_means_the_same_and_what_is_another_in_every_server_is_no_difference() {
    let a = system(
        Family::Mysql,
        "8.0.33",
        &[
            ("log_bin", "1"),
            ("key_buffer_size", "8M"),
            ("innodb_undo_directory", "./"),
            ("port", "1"),
            ("version", "a"),
        ],
    );
    let b = system(
        Family::Mysql,
        "8.0.33",
        &[("log_bin", "ON"), ("key_buffer_size", "8388608"), ("innodb_undo_directory", "."), ("port", "2")],
    );
    assert_eq!(lines(&a, &b), [""; 0]);
}

#[test]
fn other_names_other_measures_and_removed_variables_are_seen_through() {
    let a = system(
        Family::Mysql,
        "5.6.24",
        &[
            ("tx_isolation", "REPEATABLE-READ"),
            ("query_cache_type", "OFF"),
            ("query_cache_size", "1048576"),
            ("innodb_log_file_size", "50331648"),
            ("innodb_log_files_in_group", "2"),
            ("innodb_parallel_read_threads", "1"),
        ],
    );
    let b = system(
        Family::Mysql,
        "8.4.0",
        &[
            ("transaction_isolation", "REPEATABLE-READ"),
            ("innodb_redo_log_capacity", "104857600"),
            ("innodb_parallel_read_threads", "4"),
        ],
    );
    let differences = drift(&a, &b);
    let find = |name: &str| differences.iter().find(|difference| difference.name == name);
    assert!(find("transaction_isolation").is_none() && find("tx_isolation").is_none());
    assert!(find("query_cache_type").is_none(), "removed, which is as if it were OFF");
    let size = find("query_cache_size").unwrap();
    assert_eq!(size.b.as_ref().unwrap().origin, Origin::Fixed);
    let redo = find("innodb_redo_log_capacity").unwrap();
    assert_eq!(redo.values(), (Some("100663296".to_owned()), Some("104857600".to_owned())));
    assert_eq!(redo.a.as_ref().unwrap().origin, Origin::Computed);
}

#[test]
fn a_redo_log_of_files_is_as_large_as_they_are_even_if_the_capacity_has_its_default() {
    let log = |file: &'static str, capacity: &'static str| {
        let variables = [
            ("innodb_log_file_size", file),
            ("innodb_log_files_in_group", "2"),
            ("innodb_redo_log_capacity", capacity),
        ];
        system(Family::Mysql, "8.0.33", &variables)
    };
    let (of_files, default) = (log("536870912", "104857600"), log("50331648", "104857600"));
    let (set, of_5_6) = (
        log("536870912", "209715200"),
        system(
            Family::Mysql,
            "5.6.24",
            &[("innodb_log_file_size", "536870912"), ("innodb_log_files_in_group", "2")],
        ),
    );
    let redo = |a: &SystemVariables, b: &SystemVariables| {
        let differences = drift(a, b);
        differences.iter().find(|it| it.name == "innodb_redo_log_capacity").map(Difference::values)
    };
    let values = |a: &str, b: &str| Some((Some(a.to_owned()), Some(b.to_owned())));
    assert_eq!(redo(&of_files, &default), values("1073741824", "104857600"));
    assert_eq!(redo(&of_files, &set), values("1073741824", "209715200"));
    assert_eq!(redo(&of_files, &of_5_6), None, "both have a log of 1 GB");
}

#[test]
fn of_long_lists_the_difference_is_shown() {
    let a = system(Family::Mysql, "5.6.24", &[("optimizer_switch", "mrr=on,icp=on,bka=off,ips=on")]);
    let b = system(Family::Mysql, "5.7.1", &[("optimizer_switch", "icp=on,mrr=on,bka=on,ips=on,new=on")]);
    assert!(lines(&a, &b).contains(&"optimizer_switch: bka=off | bka=on,new=on".to_owned()));
}

#[test]
fn strangers_are_compared_by_what_matters() {
    let a = system(Family::Mysql, "8.4", &[("sync_binlog", "1"), ("wait_timeout", "1")]);
    let b = system(Family::Postgres, "18", &[("fsync", "on"), ("geqo", "on")]);
    let lines = lines(&a, &b);
    assert!(lines.contains(&"sync_binlog: 1 | -".to_owned()) && lines.contains(&"fsync: - | on".to_owned()));
    assert!(
        !lines.iter().any(|line| line.starts_with("geqo") || line.starts_with("wait_timeout")),
        "{lines:?}"
    );
}
