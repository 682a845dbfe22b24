//! How servers treat values that they do not accept unchanged.

use dyno_engine::Installation;
use dyno_engine::testing::named_engines;
use dyno_settings::SystemFacts;
use dyno_testing::dyno_test;

use crate::profiles::{product, start_with};

/// Settings, each with its expected result: the value that the server reports, `ignored`, or `None` if the setting is
/// in force.
type Asked = &'static [(&'static str, &'static str, Option<&'static str>)];

const MARIADB: Asked = &[
    ("innodb_buffer_pool_size", "130M", None),
    ("innodb-flush-method", "O_DIRECT", None),
    ("innodb_io_capacity", "200", Some("100")),
    ("innodb_io_capacity_max", "100", None),
    ("loose_innodb_buffer_pool_instances", "16", Some("ignored")),
    ("loose_no_such_thing", "5", Some("ignored")),
    ("optimizer_switch", "mrr=on", None),
    ("performance_schema_instrument", "wait/%=OFF", None),
    ("skip_name_resolve", "1", None),
    ("sort_buffer_size", "1K", None),
    ("table_open_cache", "100", None),
    ("transaction-isolation", "READ-COMMITTED", None),
];

const MYSQL_56: Asked = &[
    ("innodb_buffer_pool_instances", "8", None),
    ("innodb_buffer_pool_size", "64M", None),
    ("loose-innodb-page-cleaners", "4", Some("ignored")),
    ("query_cache_type", "2", None),
    ("sort_buffer_size", "1K", Some("32768")),
    ("sql_mode", "TRADITIONAL", None),
    ("transaction-isolation", "SERIALIZABLE", None),
];

const POSTGRES: Asked = &[
    ("checkpoint_timeout", "120", None),
    ("shared_buffers", "4096", None),
    ("wal_buffers", "-1", None),
    ("work_mem", "8192kB", None),
];

#[dyno_test(named_engines(&["mariadb@10.11", "mysql@5.6.24", "postgres@18.4"]))]
fn what_is_not_in_force_is_told(installation: &Installation, system: &str) {
    let asked = match system {
        "mariadb@10.11" => MARIADB,
        "mysql@5.6.24" => MYSQL_56,
        _ => POSTGRES,
    };
    let folder = tempfile::tempdir().unwrap();
    let settings: std::collections::BTreeMap<String, String> =
        asked.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned())).collect();
    let server = start_with(folder.path(), installation, system, settings.clone());
    let facts = SystemFacts {
        id: system.to_owned(),
        product: product(installation, system),
        variables: server.variables().unwrap().into_iter().collect(),
        asked: settings,
        limits: None,
    };
    let told: Vec<(String, String)> = facts
        .not_in_force()
        .into_iter()
        .map(|it| (it.name, it.found.unwrap_or_else(|| "ignored".to_owned())))
        .collect();
    let expected: Vec<(String, String)> = asked
        .iter()
        .filter_map(|(name, _, found)| Some(((*name).to_owned(), (*found)?.to_owned())))
        .collect();
    assert_eq!(told, expected, "{system}");
    server.stop().unwrap();
}
