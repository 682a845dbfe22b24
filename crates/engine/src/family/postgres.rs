//! Sets up, starts and queries PostgreSQL.

mod owner;

use std::fs;
use std::process::{Command, Stdio};

use dyno_client::Dialect;
use rustix::process::Signal;

use crate::family::site::{Procedure, Site};
use crate::machine::path_error::{At as _, PathError};
use crate::replication::Replicating as _;
use crate::replication::postgres::PostgresReplication;
use crate::start::access::DATABASE;
use crate::start::server::begin::run;
use crate::start::server::error::StartError;

const USER: &str = "postgres";
/// A database that every data folder has.
const TEMPLATE: &str = "template1";
/// The file with the rules that say which hosts and accounts may log in, and how.
const RULES: &str = "pg_hba.conf";
/// A setting that is decided when the data folder is created.
const CHECKSUMS: &str = "data_checksums";

#[derive(Debug)]
pub(super) struct Postgres;

impl Procedure for Postgres {
    fn user(&self) -> &'static str {
        USER
    }

    fn socket_name(&self, port: u16) -> String {
        format!(".s.PGSQL.{port}")
    }

    fn own_settings(&self) -> &'static [&'static str] {
        &["data_directory", "hba_file", "listen_addresses", "port", "unix_socket_directories"]
    }

    /// An immediate shutdown. It leaves the data as a crash does, but frees shared memory.
    fn end_signal(&self) -> Signal {
        Signal::QUIT
    }

    /// A fast shutdown. It does not wait for clients to disconnect.
    fn shutdown_signal(&self) -> Signal {
        Signal::INT
    }

    fn initialize(&self, site: &Site<'_>) -> Result<(), StartError> {
        let data = site.home.create_data()?;
        let password = site.home.write_for_server("password", site.password)?;
        let mut initdb = site.program(&site.path(&site.entry().layout.server).with_file_name("initdb"));
        initdb
            .arg("--pgdata")
            .arg(&data)
            .arg("--pwfile")
            .arg(&password)
            .args(["--username", USER, "--encoding", "UTF8", "--locale", "C"])
            .args(words_of(site.entry().version_number(0)))
            .args(checksum_option(site));
        run(site, initdb, None)?;
        fs::remove_file(&password).at("remove", &password)?;
        create_database(site)
    }

    /// Sets the new password, because the data contains the password of an earlier server.
    fn adopt(&self, site: &Site<'_>) -> Result<(), StartError> {
        in_single_user_mode(site, TEMPLATE, &format!("ALTER ROLE {USER} PASSWORD '{}';\n", site.password))
    }

    fn take_over(&self, site: &Site<'_>) -> Result<(), StartError> {
        owner::forget(&site.home.data(), site.entry().version_number(0) >= 10)?;
        // The objects may exist already. In single-user mode, the program continues after a statement that fails.
        let statements = format!(
            "CREATE ROLE {USER};\nALTER ROLE {USER} SUPERUSER LOGIN PASSWORD '{}' VALID UNTIL 'infinity';\n\
             CREATE DATABASE {DATABASE};\n",
            site.password
        );
        in_single_user_mode(site, TEMPLATE, &statements)
    }

    fn server(&self, site: &Site<'_>) -> Result<Command, PathError> {
        let mut command = postgres(site);
        command
            .arg("-D")
            .arg(site.home.data())
            .arg("-c")
            .arg(format!("unix_socket_directories={}", site.home.sockets().display()))
            .args([
                "-c",
                &format!("listen_addresses={}", site.address()),
                "-c",
                &format!("port={}", site.port),
            ])
            .stdin(Stdio::null());
        command.args(PostgresReplication.arguments(site));
        if site.listen.is_some() || site.role.replication().is_some() {
            let rules =
                site.home.write_for_server(RULES, &rules_for_all_hosts(site.entry().version_number(0)))?;
            command.arg("-c").arg(format!("hba_file={}", rules.display()));
        }
        for (name, value) in site.settings.iter().filter(|(name, _)| name != CHECKSUMS) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.args(PostgresReplication::least(site));
        Ok(command)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Pgsql
    }

    fn version_query(&self) -> &'static str {
        "SHOW server_version"
    }

    fn variables_query(&self) -> &'static str {
        "SELECT name, current_setting(name) FROM pg_settings ORDER BY name"
    }

    /// Uses `pg_prewarm`, which reads tables and indexes into the server's own cache, as far as they fit. If the build
    /// lacks it, tables are scanned. The scan of a large table uses only a small ring of buffers, but it fills the
    /// kernel's cache.
    fn scans_query(&self) -> &'static str {
        "WITH prewarm AS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_prewarm')
         SELECT 'CREATE EXTENSION IF NOT EXISTS pg_prewarm' FROM prewarm
         UNION ALL
         SELECT CASE WHEN EXISTS (SELECT 1 FROM prewarm) THEN format('SELECT pg_prewarm(%L)', c.oid::regclass)
                     ELSE format('SELECT count(*) FROM %s', c.oid::regclass) END
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
           AND (c.relkind = 'r' OR c.relkind = 'i' AND EXISTS (SELECT 1 FROM prewarm))"
    }
}

/// Returns options of initdb: all logins need a password, and files are not synced. Versions before 10 have another
/// password method, and another name for the option not to sync.
fn words_of(major_version: u32) -> [&'static str; 3] {
    let no_sync = if major_version >= 10 { "--no-sync" } else { "--nosync" };
    ["--auth", password_method(major_version), no_sync]
}

/// Returns the rules for logins by password from all hosts. The rules that the data folder has before allow only this
/// host.
fn rules_for_all_hosts(major_version: u32) -> String {
    let method = password_method(major_version);
    // Replicas connect from this host, so the rule for replication allows only this host.
    format!(
        "local all all {method}\nhost all all 0.0.0.0/0 {method}\nhost all all ::/0 {method}\n\
         host replication all samehost {method}\n"
    )
}

fn password_method(major_version: u32) -> &'static str {
    if major_version >= 10 { "scram-sha-256" } else { "md5" }
}

fn postgres(site: &Site<'_>) -> Command {
    site.program(&site.path(&site.entry().layout.server))
}

/// Returns the option of `initdb` for [`CHECKSUMS`], if the user sets it. By default, checksums are off before version
/// 18.
fn checksum_option(site: &Site<'_>) -> Option<&'static str> {
    let (_, value) = site.settings.iter().rfind(|(name, _)| name == CHECKSUMS)?;
    let is_on = ["on", "true", "yes", "1"].contains(&value.to_ascii_lowercase().as_str());
    if is_on {
        return Some("--data-checksums");
    }
    (site.entry().version_number(0) >= 18).then_some("--no-data-checksums")
}

fn create_database(site: &Site<'_>) -> Result<(), StartError> {
    in_single_user_mode(site, USER, &format!("CREATE DATABASE {DATABASE};\n"))
}

/// Runs statements in a database before the server starts. In single-user mode, the program reads statements from
/// standard input, one in each line.
fn in_single_user_mode(site: &Site<'_>, database: &str, statements: &str) -> Result<(), StartError> {
    let sql = site.home.write_secret("statements.sql", statements)?;
    let mut command = postgres(site);
    // If the server aborts, its shared memory stays. With this setting, the shared memory is in the data folder and not
    // in `/dev/shm`.
    let shared_memory = "dynamic_shared_memory_type=mmap";
    command.arg("--single").arg("-D").arg(site.home.data()).args(["-c", shared_memory]).arg(database);
    run(site, command, Some(&sql))?;
    Ok(fs::remove_file(&sql).at("remove", &sql)?)
}
