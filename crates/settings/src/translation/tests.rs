use std::collections::BTreeMap;

use dyno_engine::Family;

use super::*;

fn product(family: Family, version: &str) -> Product {
    Product { family, version: version.parse().unwrap(), storage_engine: None }
}

/// Translates a setting, and formats the result as `name=value name=value`.
fn write(family: Family, version: &str, name: &str, value: &str) -> Result<String, SettingsError> {
    let assignment = Assignment { value: value.to_owned(), ..Assignment::default() };
    let translation = translate(&product(family, version), &BTreeMap::from([(name.to_owned(), assignment)]))?;
    let settings: Vec<_> =
        translation.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(settings.join(" "))
}

fn mysql(version: &str, name: &str, value: &str) -> String {
    write(Family::Mysql, version, name, value).unwrap()
}

fn mariadb(version: &str, name: &str, value: &str) -> String {
    write(Family::Mariadb, version, name, value).unwrap()
}

#[test]
fn the_redo_log_is_measured_as_each_version_does() {
    let name = "innodb_redo_log_capacity";
    let files = "innodb_log_file_size=536870912 innodb_log_files_in_group=2";
    for version in ["5.5", "5.6", "5.7", "8.0.29"] {
        assert_eq!(mysql(version, name, "1G"), files);
    }
    for version in ["8.0", "8.0.30", "8.4", "9.7", "26.7"] {
        assert_eq!(mysql(version, name, "1G"), "innodb_redo_log_capacity=1G");
    }
    for version in ["10.1", "10.2"] {
        assert_eq!(mariadb(version, name, "1G"), files);
    }
    for version in ["10.5", "10.11", "11.4", "11.8"] {
        assert_eq!(mariadb(version, name, "1G"), "innodb_log_file_size=1G");
    }
    let error = write(Family::Mysql, "5.6", name, "much").unwrap_err().to_string();
    assert_eq!(error, "`innodb_redo_log_capacity` must be a size such as 512M, not much");
}

#[test]
fn direct_io_is_said_as_each_version_does() {
    let name = "innodb_flush_method";
    assert_eq!(mysql("5.5", name, "O_DIRECT"), "innodb_flush_method=O_DIRECT");
    assert_eq!(mariadb("10.5", name, "O_DIRECT"), "innodb_flush_method=O_DIRECT");
    assert_eq!(
        mariadb("10.11", name, "O_DIRECT"),
        "innodb_flush_method=O_DIRECT innodb_log_file_buffering=ON"
    );
    assert_eq!(
        mariadb("11.8", name, "O_DIRECT"),
        "innodb_data_file_buffering=OFF innodb_data_file_write_through=OFF \
         innodb_log_file_buffering=ON innodb_log_file_write_through=OFF"
    );
    assert_eq!(
        write(Family::Mysql, "5.5", name, "O_DIRECT_NO_FSYNC").unwrap_err().to_string(),
        "`innodb_flush_method` cannot be O_DIRECT_NO_FSYNC in mysql 5.5; it can be: fsync, O_DSYNC, O_DIRECT"
    );
}

#[test]
fn a_whole_number_has_no_fraction() {
    assert_eq!(mysql("5.6", "innodb_max_dirty_pages_pct", "90.000000"), "innodb_max_dirty_pages_pct=90");
    assert_eq!(mysql("8.0", "innodb_max_dirty_pages_pct", "7.500000"), "innodb_max_dirty_pages_pct=7.500000");
}

#[test]
fn the_binlog_is_switched_where_it_is_on_by_itself() {
    assert_eq!(mysql("5.6", "log_bin", "OFF"), "");
    assert_eq!(mysql("8.4", "log_bin", "0"), "skip_log_bin=1");
    assert_eq!(mariadb("11.8", "log_bin", "ON"), "log_bin=binlog server_id=1");
}

#[test]
fn what_a_version_always_does_need_not_be_set_and_cannot_be_undone() {
    assert_eq!(mysql("5.6", "query_cache_type", "OFF"), "query_cache_type=OFF");
    assert_eq!(mysql("8.0", "query_cache_type", "0"), "");
    assert_eq!(
        write(Family::Mysql, "9.7", "query_cache_type", "ON").unwrap_err().to_string(),
        "`query_cache_type` is always OFF in mysql 9.7, never ON; mark it `optional` to leave it out there"
    );
    assert_eq!(mariadb("11.4", "innodb_change_buffering", "none"), "");
    assert_eq!(mariadb("10.11.5", "innodb_snapshot_isolation", "OFF"), "");
    assert_eq!(mariadb("10.11.8", "innodb_snapshot_isolation", "OFF"), "innodb_snapshot_isolation=OFF");
    assert_eq!(mysql("5.5", "innodb_checksum_algorithm", "none"), "innodb_checksums=0");
    assert_eq!(mysql("5.5.34", "innodb_file_per_table", "ON"), "innodb_file_per_table=1");
    assert_eq!(mysql("5.7", "innodb_file_format", "Barracuda"), "innodb_file_format=Barracuda");
    assert_eq!(mysql("8.0", "innodb_file_format", "barracuda"), "");
    assert_eq!(write(Family::Postgres, "9.6", "jit", "off").unwrap(), "");
}

#[test]
fn what_cannot_be_had_is_an_error_that_names_it() {
    assert_eq!(
        write(Family::Mysql, "5.5", "innodb_io_capacity_max", "2000").unwrap_err().to_string(),
        "mysql 5.5 has no `innodb_io_capacity_max`; mark it `optional` to leave it out there"
    );
    assert_eq!(
        write(Family::Mysql, "5.6", "inodb_doublewrite", "1").unwrap_err().to_string(),
        "there is no setting `inodb_doublewrite` of mysql; did you mean `innodb_doublewrite`?"
    );
    assert!(matches!(
        write(Family::Postgres, "18", "innodb_doublewrite", "1"),
        Err(SettingsError::Unknown { near: None, .. })
    ));
}

#[test]
fn what_is_optional_is_left_out_with_its_reason() {
    let optional = |value: &str| Assignment { value: value.to_owned(), optional: true, verbatim: false };
    let settings = BTreeMap::from([
        ("innodb_buffer_pool_instances".to_owned(), optional("8")),
        ("innodb_checksum_algorithm".to_owned(), optional("none")),
        ("innodb_purge_threads".to_owned(), optional("1")),
    ]);
    let translation = translate(&product(Family::Mariadb, "11.8"), &settings).unwrap();
    assert_eq!(translation.settings, BTreeMap::from([("innodb_purge_threads".to_owned(), "1".to_owned())]));
    let reasons: Vec<_> =
        translation.left_out.iter().map(|left| (left.name.as_str(), left.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("innodb_buffer_pool_instances", "always 1"),
            ("innodb_checksum_algorithm", "only crc32, strict_crc32, full_crc32, strict_full_crc32"),
        ]
    );
    let typo = BTreeMap::from([("innodb_prge_threads".to_owned(), optional("1"))]);
    assert!(translate(&product(Family::Mariadb, "11.8"), &typo).is_err());
}

#[test]
fn every_setting_has_a_line_that_says_what_it_does() {
    for family in [Family::Mysql, Family::Mariadb, Family::Postgres, Family::Sqlite] {
        let has_none = |name: &&str| crate::files::knowledge::knowledge(family, name).is_none();
        assert_eq!(known_settings(family).filter(has_none).collect::<Vec<_>>(), [""; 0]);
    }
}
