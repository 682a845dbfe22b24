use dyno_engine::{Catalogue, Entry as CatalogueEntry};

use super::*;
use crate::facts::product::Product;
use crate::profile::Profile;

const ROOM: TuneRoom = TuneRoom { memory_bytes: 8 << 30, clients: 4 };

/// Every product of the catalogue, with each storage engine that has entries.
fn products() -> Vec<Product> {
    let of = |entry: &CatalogueEntry| {
        let engines: Vec<Option<&str>> = match entry.storage_engines.as_slice() {
            [] => vec![None],
            engines => engines.iter().map(|name| Some(name.as_str())).collect(),
        };
        engines.into_iter().map(|engine| Product::of(entry, engine).unwrap()).collect::<Vec<_>>()
    };
    Catalogue::builtin().entries().iter().flat_map(of).collect()
}

/// A server that makes every promise, and reports every variable that an entry may set.
fn safe(product: &Product) -> SystemFacts {
    let mut variables = Profile::builtin("safe").unwrap().settings_for(product).unwrap();
    variables.extend(
        [
            ("transaction_isolation", "SERIALIZABLE"),
            ("default_transaction_isolation", "serializable"),
            ("innodb_snapshot_isolation", "ON"),
            ("foreign_key_checks", "ON"),
            ("foreign_keys", "1"),
            ("innodb_log_checksums", "ON"),
            ("rocksdb_paranoid_checks", "ON"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    for entry in entries(product) {
        for possible in entry.possible(ROOM) {
            let assignment = Assignment { value: possible.value, ..Assignment::default() };
            let translated = translate(product, &[(entry.name.clone(), assignment)].into());
            for name in translated.map(|it| it.settings).unwrap_or_default().into_keys() {
                variables.entry(name).or_insert_with(|| "of the server".to_owned());
            }
        }
    }
    SystemFacts {
        id: "safe".to_owned(),
        product: product.clone(),
        variables,
        asked: BTreeMap::new(),
        limits: None,
    }
}

#[test]
fn no_value_of_any_file_lowers_a_promise_of_a_safe_server() {
    let mut tried = 0;
    for product in products() {
        let base = safe(&product);
        let lost = |changes: &BTreeMap<String, Option<String>>| base.promise_lost_with(changes);
        assert_eq!(lost(&BTreeMap::new()), None);
        for entry in entries(&product) {
            for Possible { value, .. } in entry.possible(ROOM) {
                let assignment = Assignment { value: value.clone(), ..Assignment::default() };
                let Ok(translation) = translate(&product, &[(entry.name.clone(), assignment)].into()) else {
                    continue;
                };
                let changes = translation.settings.into_iter().map(|(name, value)| (name, Some(value)));
                assert_eq!(lost(&changes.collect()), None, "{product}: {} = {value}", entry.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn a_value_that_would_lower_a_promise_is_left_out_with_its_reason() {
    let product =
        Product { family: dyno_engine::Family::Sqlite, version: "3".parse().unwrap(), storage_engine: None };
    let mut base = safe(&product);
    // With a rollback journal, NORMAL keeps the promise that a commit is durable. With a WAL it does not.
    base.variables.extend(
        [("journal_mode", "delete"), ("synchronous", "1")].map(|(a, b)| (a.to_owned(), b.to_owned())),
    );
    let space = tune_space(&base, ROOM);
    let wal = space.left_out.iter().find(|it| it.value.as_deref() == Some("WAL")).unwrap();
    assert!(
        wal.reason.starts_with("would weaken durability: a system with it leaves it to"),
        "{}",
        wal.reason
    );
    assert!(space.settings.iter().flat_map(|it| &it.values).all(|it| it.value != "WAL"));
}

#[test]
fn every_product_has_something_to_try_that_its_version_and_server_know() {
    for product in products() {
        let mut base = safe(&product);
        let space = tune_space(&base, ROOM);
        assert!(space.settings.len() >= 3, "{product}: {:?}", space.settings);
        for setting in &space.settings {
            assert!(!setting.values.is_empty(), "{product}: {}", setting.name);
            for value in &setting.values {
                assert!(!value.settings.is_empty(), "{product}: {} = {}", setting.name, value.value);
            }
        }
        let gone = space.settings[0].values[0].settings.keys().next().unwrap().clone();
        base.variables.remove(&gone);
        let reason = format!("is left out: the server does not report {gone}");
        assert!(tune_space(&base, ROOM).left_out.iter().any(|it| it.reason == reason), "{product}: {gone}");
    }
}

fn mariadb(variables: &[(&str, &str)]) -> SystemFacts {
    let product = Product {
        family: dyno_engine::Family::Mariadb,
        version: "10.11.14".parse().unwrap(),
        storage_engine: None,
    };
    let mut base = safe(&product);
    base.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    base
}

fn values<'a>(space: &'a TuneSpace, name: &str) -> Vec<&'a str> {
    let setting = space.settings.iter().find(|setting| setting.name == name);
    setting.into_iter().flat_map(|it| &it.values).map(|value| value.value.as_str()).collect()
}

#[test]
fn sizes_are_of_the_memory_and_the_nearest_to_the_server_s_own_comes_first() {
    let space = tune_space(&mariadb(&[("innodb_buffer_pool_size", "134217728")]), ROOM);
    assert_eq!(values(&space, "innodb_buffer_pool_size"), ["819M", "2007M", "4915M"]);
    let space = tune_space(&mariadb(&[("innodb_buffer_pool_size", "2104492032")]), ROOM);
    assert_eq!(values(&space, "innodb_buffer_pool_size"), ["4915M", "819M"], "its own is none to try");
    let small = TuneRoom { memory_bytes: 1 << 30, clients: 4 };
    let space = tune_space(&mariadb(&[]), small);
    assert_eq!(values(&space, "innodb_redo_log_capacity"), ["256M"], "no size is above half of the memory");
}

#[test]
fn a_value_that_the_server_has_is_none_to_try() {
    let space = tune_space(&mariadb(&[("innodb_flush_neighbors", "0"), ("innodb_purge_threads", "4")]), ROOM);
    assert_eq!(values(&space, "innodb_flush_neighbors"), [""; 0]);
    assert_eq!(values(&space, "innodb_purge_threads"), ["1"]);
    let names: Vec<&str> = space.left_out.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"innodb_log_writer_threads"), "MariaDB has none: {names:?}");
}

#[test]
fn what_each_client_has_of_its_own_is_divided_by_their_number() {
    let product =
        Product { family: dyno_engine::Family::Sqlite, version: "3".parse().unwrap(), storage_engine: None };
    let base = safe(&product);
    let largest = |clients| {
        let space = tune_space(&base, TuneRoom { clients, ..ROOM });
        values(&space, "cache_size").iter().map(|it| it.parse::<i64>().unwrap()).min().unwrap()
    };
    assert!((largest(1) - 4 * largest(4)).abs() <= 4, "{} {}", largest(1), largest(4));
}
