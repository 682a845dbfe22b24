use dyno_engine::Family;

use super::*;

fn system(family: Family, version: &str, pairs: &[(&str, &str)]) -> SystemVariables {
    let product = Product { family, version: version.parse().unwrap(), storage_engine: None };
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    SystemVariables::new("s", product, pairs)
}

fn rows(rows: &[[Option<&str>; 3]]) -> Vec<Vec<Option<String>>> {
    rows.iter().map(|row| row.iter().map(|field| field.map(ToOwned::to_owned)).collect()).collect()
}

fn variable(system: &SystemVariables, name: &str) -> (Origin, Option<String>) {
    (system.variables[name].origin, system.variables[name].default.clone())
}

#[test]
fn the_help_of_an_old_server_gives_its_defaults() {
    let help = "mysqld  Ver 5.6\nUsage: …\n\nVariables (--variable-name=value)\n\
                and boolean options {FALSE|TRUE}    Value (after reading options)\n\
                ----------------------------------- ---------------\n\
                eq-range-index-dive-limit           10\n\
                innodb-doublewrite                  TRUE\n\
                innodb-flush-method                 (No default value)\n\
                table-definition-cache              1400\n\
                \nTo see what values a running server is using, …\n";
    let pairs = [
        ("eq_range_index_dive_limit", "50"),
        ("innodb_doublewrite", "ON"),
        ("innodb_flush_method", ""),
        ("table_definition_cache", "615"),
        ("tx_isolation", "REPEATABLE-READ"),
    ];
    let mut system = system(Family::Mysql, "5.6.24", &pairs);
    assert_eq!(readings(&system.product), [Reading::Help]);
    system.learn_help(help);
    system.mark_set(["eq-range-index-dive-limit"]);
    assert_eq!(variable(&system, "eq_range_index_dive_limit"), (Origin::Set, Some("10".to_owned())));
    assert_eq!(variable(&system, "innodb_doublewrite"), (Origin::Default, Some("TRUE".to_owned())));
    assert_eq!(variable(&system, "innodb_flush_method"), (Origin::Default, Some(String::new())));
    assert_eq!(variable(&system, "table_definition_cache"), (Origin::Computed, Some("1400".to_owned())));
    assert_eq!(variable(&system, "tx_isolation"), (Origin::Unknown, None));
}

#[test]
fn newer_servers_tell_where_each_value_comes_from() {
    let mut mysql = system(Family::Mysql, "8.4", &[("sync_binlog", "1"), ("port", "7")]);
    assert_eq!(readings(&mysql.product), [Reading::Help, Reading::VariablesInfo]);
    let told = [[Some("sync_binlog"), Some("COMPILED"), None], [Some("port"), Some("COMMAND_LINE"), None]];
    mysql.learn(Reading::VariablesInfo, &rows(&told));
    assert_eq!(variable(&mysql, "sync_binlog"), (Origin::Default, Some("1".to_owned())));
    assert_eq!(variable(&mysql, "port"), (Origin::Set, None));

    let mut mariadb = system(
        Family::Mariadb,
        "10.11",
        &[("sync_binlog", "1"), ("back_log", "80"), ("innodb_open_files", "2000")],
    );
    let told = [
        [Some("SYNC_BINLOG"), Some("COMMAND-LINE"), Some("0")],
        [Some("BACK_LOG"), Some("AUTO"), Some("150")],
        [Some("INNODB_OPEN_FILES"), Some("COMPILE-TIME"), Some("0")],
        [Some("NOT_THERE"), Some("AUTO"), None],
        [None, None, None],
    ];
    mariadb.learn(Reading::SystemVariables, &rows(&told));
    assert_eq!(variable(&mariadb, "sync_binlog"), (Origin::Set, Some("0".to_owned())));
    assert_eq!(variable(&mariadb, "back_log"), (Origin::Computed, Some("150".to_owned())));
    assert_eq!(variable(&mariadb, "innodb_open_files"), (Origin::Default, Some("2000".to_owned())));

    let mut postgres = system(Family::Postgres, "18.4", &[("fsync", "off"), ("shared_buffers", "128MB")]);
    let told = [
        [Some("fsync"), Some("command line"), Some("on")],
        [Some("shared_buffers"), Some("configuration file"), Some("131072kB")],
    ];
    postgres.learn(Reading::PgSettings, &rows(&told));
    assert_eq!(variable(&postgres, "fsync"), (Origin::Set, Some("on".to_owned())));
    assert_eq!(variable(&postgres, "shared_buffers"), (Origin::Computed, Some("131072kB".to_owned())));
}
