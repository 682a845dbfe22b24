use std::collections::BTreeMap;

use dyno_engine::Family;

use super::*;

/// All versions that Dyno knows, and two future ones.
const MYSQL: [&str; 8] = ["5.5.34", "5.6.24", "5.7", "8.0.33", "8.4", "9.7.4", "9.7", "26.7"];
const MARIADB: [&str; 8] = ["10.1.23", "10.2.11", "10.5", "10.11", "10.11.5", "11.4.5", "11.8", "12.3"];
const POSTGRES: [&str; 4] = ["9.6", "14", "16", "18.4"];

fn products() -> Vec<Product> {
    let families = [
        (Family::Mysql, &MYSQL[..]),
        (Family::Mariadb, &MARIADB),
        (Family::Postgres, &POSTGRES),
        (Family::Sqlite, &["3"]),
    ];
    let mut products = Vec::new();
    for (family, versions) in families {
        for version in versions {
            let product = Product { family, version: version.parse().unwrap(), storage_engine: None };
            if family == Family::Mariadb && *version != "10.1.23" {
                products.push(Product { storage_engine: Some("rocksdb".to_owned()), ..product.clone() });
            }
            products.push(product);
        }
    }
    products
}

fn product(family: Family, version: &str, storage_engine: Option<&str>) -> Product {
    Product {
        family,
        version: version.parse().unwrap(),
        storage_engine: storage_engine.map(ToOwned::to_owned),
    }
}

#[test]
fn every_built_in_profile_fits_every_version() {
    let names: Vec<String> = builtin_profiles().into_iter().map(|profile| profile.name).collect();
    assert_eq!(names, ["fast", "like-56", "safe", "stock"]);
    for name in names {
        let profile = Profile::builtin(&name).unwrap();
        for product in products() {
            let settings = profile.settings_for(&product).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(settings.is_empty(), name == "stock", "{name} for {product}");
        }
    }
}

#[test]
fn each_storage_engine_gets_its_own_section() {
    let like_56 = Profile::builtin("like-56").unwrap();
    let innodb = like_56.settings_for(&product(Family::Mariadb, "10.11", None)).unwrap();
    let rocksdb = like_56.settings_for(&product(Family::Mariadb, "10.11", Some("rocksdb"))).unwrap();
    assert!(innodb.contains_key("innodb_purge_threads") && !innodb.contains_key("rocksdb_block_cache_size"));
    assert!(
        !rocksdb.contains_key("innodb_purge_threads") && rocksdb.contains_key("rocksdb_block_cache_size")
    );
    assert_eq!(innodb["eq_range_index_dive_limit"], rocksdb["eq_range_index_dive_limit"]);
}

#[test]
fn a_system_changes_single_settings() {
    let like_56 = Profile::builtin("like-56").unwrap();
    let change = |name: &str, value: &str| {
        let changes = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        like_56.translate(&product(Family::Mysql, "5.6.24", None), &changes)
    };
    assert_eq!(
        change("innodb-redo-log-capacity", "2G").unwrap().settings["innodb_log_file_size"],
        "1073741824"
    );
    assert_eq!(change("innodb_log_file_size", "64M").unwrap().settings["innodb_log_file_size"], "64M");
    assert_eq!(change("performance_schema", "ON").unwrap().settings["performance_schema"], "ON");
    let left_out = |translation: Translation| translation.left_out.len();
    assert_eq!(left_out(change("wait_timeout", "60").unwrap()), 0);
    assert!(change("innodb_page_cleaners", "4").is_err(), "a change that has no effect is an error");
}

fn error(text: &str) -> String {
    Profile::parse(text, "my.toml").unwrap_err().to_string()
}

#[test]
fn mistakes_are_told_with_their_place() {
    let head = "name = \"x\"\ntitle = \"y\"\n";
    assert_eq!(
        error(&format!("{head}[innodb]\n  innodb_dublewrite = 1\n")),
        "my.toml:4:3: [innodb] has no setting `innodb_dublewrite`; did you mean `innodb_doublewrite`?; \
         write { value = …, verbatim = true } to pass it on as it is"
    );
    assert!(
        error(&format!("{head}[postgres]\ninnodb_doublewrite = 1\n"))
            .starts_with("my.toml:4:1: [postgres] has")
    );
    assert_eq!(
        error(&format!("{head}[mysql]\nsync_binlog = [1]\n")),
        "my.toml:4:1: `sync_binlog` must be a text, a number, true or false, or { value = …, optional = true }"
    );
    assert!(
        error(&format!("{head}[mysql]\nsync_binlog = {{ value = 1, optinal = true }}\n")).contains("4:1")
    );
    assert!(
        error(&format!("{head}[inodb]\n")).starts_with("my.toml:3:2: unknown field `inodb`"),
        "{}",
        error(&format!("{head}[inodb]\n"))
    );
    assert!(error("name = \"x\"\n").contains("missing field `title`"));
    assert!(error("name = \n").starts_with("my.toml:1:"));
    let error = Profile::builtin("like56").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no profile `like56`; did you mean `like-56`?; there are: fast, like-56, safe, stock"
    );
    assert!(
        Profile::find("./none.toml")
            .unwrap_err()
            .to_string()
            .starts_with("cannot read the profile ./none.toml")
    );
}

#[test]
fn what_the_table_does_not_have_is_passed_on_when_it_says_so() {
    let text =
        "name='x'\ntitle='y'\n[mysql]\nwait_timeout = { value = 60, verbatim = true }\nsync_binlog = 1.5\n";
    let settings =
        Profile::parse(text, "x.toml").unwrap().settings_for(&product(Family::Mysql, "8.4", None)).unwrap();
    assert_eq!(settings["wait_timeout"], "60");
    assert_eq!(settings["sync_binlog"], "1.5");
}
