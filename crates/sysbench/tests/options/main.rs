//! For every option: its effect, the values that it refuses, and the test that shows its effect.

mod effects;
mod logins;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;

use dyno_script::general_groups;
use support::sysbench;

/// Expectations for an option.
struct Row {
    name: &'static str,
    /// Values that the option refuses.
    refused: &'static [&'static str],
    shown: Shown,
}

/// The test that shows an option's effect.
enum Shown {
    Here(fn()),
    /// A test elsewhere: its file, relative to the workspace's folder `crates`, and its name.
    By(&'static str, &'static str),
}

use Shown::{By, Here};

const fn row(name: &'static str, refused: &'static [&'static str], shown: Shown) -> Row {
    Row { name, refused, shown }
}

const SERVERS: &str = "sysbench/tests/servers.rs";
const ENCRYPTION: &str = "sysbench/tests/encryption.rs";
const TRUST: &str = "sysbench/src/options/encryption.rs";
const TARGET: &str = "sysbench/src/options/target.rs";
const NO_NUMBERS: &[&str] = &["x", "-1", "nan", "inf", "1e999", ""];
const NO_WHOLE: &[&str] = &["x", "-1", "1.5", "18446744073709551616", ""];
const NO_FLAG: &[&str] = &["x", "2", ""];
const NOT_FROM_1: &[&str] = &["0", "x", "-1", "1.5", "18446744073709551616", ""];

/// sysbench's general options, as `--help` lists them.
const GENERAL: &[Row] = &[
    row("threads", NOT_FROM_1, Here(effects::threads)),
    row("events", NO_WHOLE, Here(effects::events)),
    row("time", NO_NUMBERS, Here(effects::time)),
    row("warmup-time", NO_NUMBERS, Here(effects::warmup)),
    row("forced-shutdown", &["x", "-1", "1s", "x%"], By(SERVERS, "what_does_not_end_in_time_is_dropped")),
    row("thread-stack-size", &["x", "-1", "1Q"], Here(effects::has_no_effect)),
    row("thread-init-timeout", NO_WHOLE, Here(effects::start_limit)),
    row("rate", &["x", "-1", "nan", "2000000000", "1,2@5", "5@x,6"], Here(effects::rate)),
    row("debug", NO_FLAG, Here(effects::debug)),
    row("validate", NO_FLAG, Here(effects::validate)),
    row("help", NO_FLAG, Here(effects::help)),
    row("version", NO_FLAG, Here(effects::version)),
    row("config-file", &["/nowhere/at/all"], Here(effects::config_file)),
    row("luajit-cmd", &["x", ""], Here(effects::luajit_command)),
    row("test", &[], By("sysbench/src/options/arguments.rs", "the_test_may_be_an_option_wherever_it_stands")),
    row("tx-rate", &["x", "-1", "nan", "2000000000"], Here(effects::old_names)),
    row("max-requests", NO_WHOLE, Here(effects::old_names)),
    row("max-time", NO_NUMBERS, Here(effects::old_names)),
    row("num-threads", NOT_FROM_1, Here(effects::old_names)),
    row("rand-type", &["x", ""], Here(effects::distributions)),
    row("rand-spec-iter", NOT_FROM_1, Here(effects::distributions)),
    row("rand-spec-pct", &["101", "-1", "x"], Here(effects::distributions)),
    row("rand-spec-res", &["101", "-1", "x"], Here(effects::distributions)),
    row("rand-seed", NO_WHOLE, Here(effects::seed)),
    row("rand-pareto-h", &["0", "1", "-0.2", "nan", "x"], Here(effects::distributions)),
    row("rand-zipfian-exp", &["101", "-1", "nan", "x"], Here(effects::distributions)),
    row("verbosity", &["6", "-1", "x"], Here(effects::verbosity)),
    row("report-interval", NO_NUMBERS, Here(effects::interval)),
    row("report-checkpoints", &["x", "1,x", "-1", "nan"], Here(effects::checkpoints)),
    row("percentile", &["101", "95,101", "-1", "nan", "x"], Here(effects::percentiles)),
    row("histogram", NO_FLAG, Here(effects::histogram)),
    row("db-driver", &["oracle", ""], Here(effects::driver)),
    row(
        "db-ps-mode",
        &["x", ""],
        By(TARGET, "postgres_has_a_port_and_statements_are_prepared_unless_that_is_switched_off"),
    ),
    row("db-debug", NO_FLAG, Here(effects::database_debug)),
    row("mysql-host", &[], By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them")),
    row(
        "mysql-port",
        &["0", "65536", "x", "1;2"],
        By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them"),
    ),
    row("mysql-socket", &[], By(TARGET, "hosts_and_ports_are_combined_and_sockets_come_before_them")),
    row("mysql-user", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-password", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-db", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("mysql-ssl", &["x", ""], By(ENCRYPTION, "mariadb_connections_are_encrypted_as_the_options_say")),
    row("mysql-ssl-ca", &[], By(ENCRYPTION, "mariadb_connections_are_encrypted_as_the_options_say")),
    row("mysql-ssl-cert", &[], By(ENCRYPTION, "mariadb_connections_are_encrypted_as_the_options_say")),
    row("mysql-ssl-key", &[], By(ENCRYPTION, "mariadb_connections_are_encrypted_as_the_options_say")),
    row("mysql-ssl-cipher", &[], By(ENCRYPTION, "mariadb_connections_are_encrypted_as_the_options_say")),
    row("mysql-server-public-key-path", &[], By(TRUST, "an_option_that_would_do_nothing_is_refused")),
    row("mysql-get-server-public-key", NO_FLAG, By(TRUST, "nothing_is_given_away_unless_it_is_asked_for")),
    row("mysql-enable-cleartext-plugin", NO_FLAG, By(TRUST, "nothing_is_given_away_unless_it_is_asked_for")),
    row("mysql-compression", NO_FLAG, By(TARGET, "compression_is_asked_for_by_either_option")),
    row(
        "mysql-compression-algorithms",
        &["lz4", "zlib,lz4"],
        By(TARGET, "compression_is_asked_for_by_either_option"),
    ),
    row("mysql-debug", NO_FLAG, By(SERVERS, "every_call_is_printed_if_the_options_say_so")),
    row(
        "mysql-ignore-errors",
        &["abc", "1062,abc", "-1", "1062;1213"],
        By(SERVERS, "errors_are_ignored_if_the_options_say_so"),
    ),
    row("mysql-dry-run", NO_FLAG, By("sysbench/tests/sqlite.rs", "a_dry_run_needs_no_server")),
    row(
        "pgsql-port",
        &["0", "65536", "x"],
        By(TARGET, "postgres_has_a_port_and_statements_are_prepared_unless_that_is_switched_off"),
    ),
    row("pgsql-host", &[], By(TARGET, "of_a_list_of_postgres_hosts_the_first_that_accepts_is_wanted")),
    row(
        "pgsql-sslmode",
        &["allow", "x", ""],
        By(ENCRYPTION, "postgres_connections_are_encrypted_as_the_options_say"),
    ),
    row("pgsql-ssl-ca", &[], By(ENCRYPTION, "postgres_connections_are_encrypted_as_the_options_say")),
    row(
        "pgsql-require-auth",
        &["gss", "md5,gss", "!password"],
        By(TRUST, "nothing_is_given_away_unless_it_is_asked_for"),
    ),
    row("pgsql-user", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-password", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-db", &[], By(TARGET, "accounts_and_databases_are_the_drivers_own")),
    row("pgsql-ignore-errors", &["abc", "40p01"], By(TARGET, "errors_to_ignore_are_the_drivers_own")),
    row("sqlite-db", &[], Here(effects::driver)),
    row("connect-timeout", NO_NUMBERS, Here(logins::silent_servers_are_given_up)),
    row("rate-spacing", &["x", ""], Here(effects::spacing)),
    row("think-time", NO_NUMBERS, Here(effects::think_time)),
    row("scheduler", &["x", ""], Here(effects::scheduler)),
    row("io", &["x", ""], Here(effects::scheduler)),
    row("loops", &["65537", "-1", "x"], Here(effects::scheduler)),
    row("format", &["x", ""], Here(effects::format)),
    row("compat", &["2", ""], Here(effects::compat)),
];

/// The options of the built-in test.
const OF_CPU: &[Row] = &[row("cpu-max-prime", NOT_FROM_1, Here(effects::of_cpu))];

#[test]
fn every_option_is_in_the_table() {
    let known = general_groups().iter().flat_map(|group| group.options).map(|option| option.definition.name);
    let mut known: Vec<&str> = known.collect();
    let mut rows: Vec<&str> = GENERAL.iter().map(|row| row.name).collect();
    known.sort_unstable();
    rows.sort_unstable();
    assert_eq!(known, rows);
    let help = sysbench(&[&["cpu", "help"]]).success();
    let declared: Vec<&str> = help.lines().filter_map(|line| line.trim_start().strip_prefix("--")).collect();
    assert_eq!(declared.len(), OF_CPU.len(), "{help}");
    assert!(declared.iter().zip(OF_CPU).all(|(declared, row)| declared.starts_with(row.name)), "{help}");
}

#[test]
fn what_an_option_cannot_be_is_refused_by_its_name() {
    let refused = |row: &Row| {
        for value in row.refused {
            let option = format!("--{}={value}", row.name);
            let outcome = sysbench(&[&["cpu", "--events=1", "--time=0.01", &option, "run"]]);
            let said = format!("{}{}", outcome.out, outcome.err);
            assert!(outcome.status == 1 && said.contains(row.name), "{option}: {outcome:?}");
            assert!(!said.contains("total number of events"), "{option}: {outcome:?}");
        }
    };
    for row in GENERAL.iter().chain(OF_CPU) {
        refused(row);
    }
}

#[test]
fn every_option_has_an_effect() {
    let mut done: Vec<usize> = Vec::new();
    for row in GENERAL.iter().chain(OF_CPU) {
        match row.shown {
            Here(check) if done.contains(&(check as usize)) => {}
            Here(check) => {
                check();
                done.push(check as usize);
            }
            By(file, test) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
                let tests = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
                assert!(tests.contains(&format!("fn {test}(")), "--{}: {file} has no {test}", row.name);
            }
        }
    }
}
