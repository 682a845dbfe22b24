//! A key that would have no effect on the system's engine is refused.

use super::super::System;
use super::super::testing::{TEXT, parse};

/// Returns the plan's systems whose id begins with `c`. System `c` has the given keys. The first key is in
/// line 24.
fn with(keys: &str) -> Result<Vec<System>, String> {
    let text = TEXT.replacen("engine = \"sqlite\"\nsettings = { journal_mode = \"WAL\" }", keys, 1);
    let systems = parse(&text).map_err(|error| error.to_string())?.systems;
    Ok(systems.into_iter().filter(|system| system.id.starts_with('c')).collect())
}

fn check(cases: &[(&str, &str, u32, &str)]) {
    for (engine, keys, line, words) in cases {
        let error = with(&format!("{engine}\n{keys}")).unwrap_err();
        let first = error.lines().next().unwrap();
        assert!(
            first.starts_with(&format!("plan.toml:{line}:")) && first.contains(words),
            "{engine} {keys}: {first}"
        );
    }
}

const MYSQL: &str = "engine = \"mysql@5.6.24\"";
const POSTGRES: &str = "engine = \"postgres@18\"";
const SQLITE: &str = "engine = \"sqlite\"";
const DSN: &str = "dsn = \"mysql://host/b\"";
const LADDER: &str = "ladder = [{ id = \"x\" }, { id = \"y\", settings = { sort_buffer_size = 1 } }]";

#[test]
fn a_storage_engine_is_used_or_refused() {
    let name = |keys: &str| with(keys).unwrap()[0].source.name();
    assert_eq!(name("engine = \"mariadb@10.11\"\nstorage_engine = \"RocksDB\""), "mariadb@10.11/rocksdb");
    assert!(name(&format!("{DSN}\nstorage_engine = \"innodb\"")).ends_with("/b/innodb"));
    check(&[
        (
            "engine = \"mysql@5.6.24/innodb\"",
            "storage_engine = \"myisam\"",
            25,
            "names the storage engine `innodb` already",
        ),
        (MYSQL, "storage_engine = \"rocksdb\"", 25, "mysql@5.6.24 has no storage engine 'rocksdb'"),
        (POSTGRES, "storage_engine = \"heap\"", 25, "has no storage engine 'heap'; it takes none"),
        (SQLITE, "storage_engine = \"innodb\"", 25, "has no storage engine 'innodb'; it takes none"),
        (
            "dsn = \"postgres://host/b\"",
            "storage_engine = \"heap\"",
            25,
            "PostgreSQL takes no storage engine",
        ),
    ]);
}

#[test]
fn a_setting_that_others_hide_is_refused() {
    let twice = "`sort-buffer-size` and `sort_buffer_size` are the same setting";
    check(&[
        (
            MYSQL,
            "settings = { default-storage-engine = \"myisam\" }",
            25,
            "write `storage_engine = \"myisam\"` in the system",
        ),
        (
            MYSQL,
            "sweep = { default_storage_engine = [\"myisam\"] }",
            25,
            "`default_storage_engine` does not change the tables",
        ),
        (
            MYSQL,
            "ladder = [{ id = \"x\" }, { id = \"y\", settings = { storage_engine = \"x\" } }]",
            25,
            "`storage_engine` does not",
        ),
        (MYSQL, "settings = { sort_buffer_size = 1, sort-buffer-size = 2 }", 25, twice),
        (MYSQL, "sweep = { sort_buffer_size = [1], sort-buffer-size = [2] }", 25, twice),
        (
            MYSQL,
            "settings = { sort-buffer-size = 1 }\nsweep = { sort_buffer_size = [1, 2] }",
            26,
            "in `settings` and in `sweep`",
        ),
        (
            MYSQL,
            &format!("settings = {{ sort-buffer-size = 2 }}\n{LADDER}"),
            26,
            "in `settings` and in `ladder`",
        ),
    ]);
    let own = with(&format!("{POSTGRES}\nsettings = {{ default_table_access_method = \"heap\" }}")).unwrap();
    assert_eq!(own[0].settings.len(), 1);
}

#[test]
fn keys_of_sweeps_and_limits_are_refused_where_they_mean_nothing() {
    let in_process = "runs inside the load process, which cannot be confined";
    check(&[
        (
            MYSQL,
            &format!("{LADDER}\nsweep_fraction = 0.5"),
            26,
            "`sweep_fraction` has no effect without `sweep`",
        ),
        (
            MYSQL,
            &format!("{LADDER}\nsweep_seed = 2"),
            26,
            "`sweep_seed` has no effect without `sweep_fraction`",
        ),
        (MYSQL, "sweep = {}", 25, "`sweep` names no setting"),
        (MYSQL, "sweep = [{}]", 25, "`sweep` names no setting"),
        (
            MYSQL,
            "sweep = [{ a = 1 }, { a = 2 }]\nsweep_fraction = 0.5",
            26,
            "without a `sweep` that is a table",
        ),
        (MYSQL, "share_data = true", 25, "without `sweep` or `ladder`"),
        (
            MYSQL,
            "confinement = { iops = 5, read_iops = 5, write_iops = 5 }",
            25,
            "`read_iops` and `write_iops` replace `iops`",
        ),
        (MYSQL, "confinement = { burst_iops = 5 }", 25, "`burst_iops` needs `burst_credits`"),
        (SQLITE, "confinement = { memory = \"1G\" }", 25, in_process),
        (SQLITE, "sweep = { \"confinement.memory\" = [\"1G\", \"2G\"] }", 25, in_process),
    ]);
    let free = with(&format!("{SQLITE}\nconfinement = {{}}")).unwrap();
    assert!(free[0].confinement.is_none());
}

#[test]
fn limits_of_the_plan_are_refused_for_an_engine_without_a_server() {
    let limited = |text: &str| parse(&format!("{text}\n[confinement]\nmemory = \"1G\"\n"));
    let error = limited(TEXT).unwrap_err().to_string();
    assert!(
        error.contains("`[confinement]` cannot limit; write `confinement = {}` in this system"),
        "{error}"
    );
    let own = TEXT.replace("engine = \"sqlite\"", "engine = \"sqlite\"\nconfinement = {}");
    let systems = limited(&own).unwrap().systems;
    assert!(systems.iter().any(|system| !system.confinement.is_none()));
    assert!(systems.iter().any(|system| system.confinement.is_none()));
}

#[test]
fn keys_of_other_engines_are_refused() {
    let given = "a server that runs already cannot be given";
    check(&[
        (MYSQL, "may_drop = true", 25, "`may_drop` is for a server that runs already"),
        (SQLITE, "keep_data = true", 25, "`keep_data` is for a server that runs already"),
        (POSTGRES, "family = \"postgres\"", 25, "`family` is for an image"),
        (DSN, "family = \"mysql\"", 25, "`family` is for an image"),
        (DSN, "profile = \"safe\"", 25, given),
        (DSN, "settings = { a = 1 }", 25, given),
        (DSN, "confinement = { memory = \"1G\" }", 25, given),
        (DSN, "sweep = { a = [1, 2] }", 25, given),
        (DSN, LADDER, 25, given),
    ]);
}
