//! What servers report about the origins of their values, and the differences between two servers.

use std::collections::BTreeMap;

use dyno_engine::testing::{Trial, engine_test, installation};
use dyno_engine::{Installation, Server};
use dyno_settings::{Group, Origin, SystemVariables, drift, readings};

use crate::profiles::{product, start_with};

pub(crate) fn tests() -> Vec<Trial> {
    let set = |name: &'static str, value: &'static str| (name, value);
    let origins = [
        ("mysql@5.6.24", set("eq_range_index_dive_limit", "50"), "10"),
        ("mysql@8.0.33", set("eq_range_index_dive_limit", "50"), "200"),
        ("mariadb@10.11/innodb", set("sync_binlog", "1"), "0"),
        ("mariadb@10.11/rocksdb", set("rocksdb_block_cache_size", "33554432"), "536870912"),
        ("postgres@18.4", set("work_mem", "8MB"), "4096kB"),
    ];
    let is_large_wanted = std::env::var_os("DYNO_LARGE_ENGINES").is_some_and(|value| value == "1");
    let mut tests: Vec<Trial> = origins
        .into_iter()
        .filter(|(system, ..)| is_large_wanted || *system != "mysql@8.0.33")
        .map(|(system, set, default)| {
            engine_test("tells what was set and what not", system, move |installation| {
                tells_origins(installation, system, set, default);
            })
        })
        .collect();
    tests.push(engine_test("differs from MariaDB where it is known to", "mysql@5.6.24", |mysql| {
        differs_from_mariadb(mysql);
    }));
    tests
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

fn tells_origins(installation: &Installation, system: &str, (name, value): (&str, &str), default: &str) {
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

fn differs_from_mariadb(mysql: &Installation) {
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
