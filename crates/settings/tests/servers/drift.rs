//! What servers report about the origins of their values, and the differences between two servers.

use std::collections::BTreeMap;

use dyno_engine::testing::{engine_test, engines, installation};
use dyno_engine::{Catalogue, Installation, Server};
use dyno_settings::{Group, Origin, SystemVariables, drift, readings};
use dyno_testing::{Trial, dyno_test};

use crate::profiles::{is_tested, product, start_with};

/// Systems, each with a setting, its value, and its default.
const CHANGED: [(&str, (&str, &str), &str); 5] = [
    ("mysql@5.6.24", ("eq_range_index_dive_limit", "50"), "10"),
    ("mysql@8.0.33", ("eq_range_index_dive_limit", "50"), "200"),
    ("mariadb@10.11/innodb", ("sync_binlog", "1"), "0"),
    ("mariadb@10.11/rocksdb", ("rocksdb_block_cache_size", "33554432"), "536870912"),
    ("postgres@18.4", ("work_mem", "8MB"), "4096kB"),
];

/// Makes a test for each system with a changed setting.
fn with_a_changed_setting(name: &str, test: fn(&Installation, &str, (&str, &str), &str)) -> Vec<Trial> {
    let catalogue = Catalogue::builtin();
    let is_tested = |system: &str| is_tested(&catalogue.find(&system.parse().unwrap()).unwrap());
    let tested = CHANGED.into_iter().filter(|(system, ..)| is_tested(system));
    let on_engine = |(system, set, default)| {
        engine_test(name, system, move |installation| {
            test(installation, system, set, default);
            Ok(())
        })
    };
    tested.map(on_engine).collect()
}

fn read(server: &Server, installation: &Installation, system: &str, set: &[&str]) -> SystemVariables {
    let product = product(installation, system);
    let mut variables = SystemVariables::new(system, product.clone(), server.variables().unwrap());
    for reading in readings(&product) {
        match reading.query() {
            Some(query) => variables.learn(*reading, &server.query(query).unwrap().rows),
            None => variables.learn_help(&server.help().unwrap().unwrap()),
        }
    }
    variables.mark_set(set.iter().copied());
    variables
}

#[dyno_test(with_a_changed_setting)]
fn what_was_set_and_what_not_is_told(
    installation: &Installation,
    system: &str,
    (name, value): (&str, &str),
    default: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let server = start_with(folder.path(), installation, system, settings);
    let system = read(&server, installation, system, &[name]);

    let changed = &system.variables[name];
    assert_eq!((changed.origin, changed.value.as_str()), (Origin::Set, value));
    assert_eq!(changed.default.as_deref(), Some(default));
    let of_origin = |origin| system.variables.values().filter(|variable| variable.origin == origin).count();
    let (all, by_default) = (system.variables.len(), of_origin(Origin::Default));
    assert!(by_default * 10 > all * 7, "{by_default} of {all} have their default");
    server.stop().unwrap();
}

#[dyno_test(engines(&["mysql@5.6.24"]))]
fn mysql_differs_from_mariadb_where_it_is_known_to(mysql: &Installation) {
    let Ok(mariadb) = installation("mariadb@10.11") else { return };
    let folder = tempfile::tempdir().unwrap();
    let a = start_with(folder.path(), mysql, "mysql@5.6.24", BTreeMap::new());
    let b = start_with(folder.path(), &mariadb, "mariadb@10.11", BTreeMap::new());
    let differences = drift(&read(&a, mysql, "mysql@5.6.24", &[]), &read(&b, &mariadb, "mariadb@10.11", &[]));

    let find = |name: &str| differences.iter().find(|difference| difference.name == name);
    let limit = find("eq_range_index_dive_limit").unwrap();
    assert_eq!(limit.values(), (Some("10".to_owned()), Some("200".to_owned())));
    assert_eq!((limit.group, limit.a.as_ref().unwrap().origin), (Group::Comparability, Origin::Default));
    assert_eq!(find("innodb_checksum_algorithm").unwrap().group, Group::Integrity);
    assert!(find("innodb_undo_logs").unwrap().b.is_none());
    for alike in ["sync_binlog", "port", "datadir", "socket", "tmpdir", "innodb_flush_log_at_trx_commit"] {
        assert!(find(alike).is_none(), "{alike}");
    }
    drop((a, b));
}
