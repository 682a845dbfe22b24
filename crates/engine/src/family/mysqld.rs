//! The common part of MySQL and MariaDB: the options of `mysqld`, and its ways to create a data folder.

use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dyno_client::Dialect;

use crate::cache::home::Home;
use crate::family::site::{Procedure, Site};
use crate::machine::path_error::{At as _, PathError};
use crate::replication::Replicating;
use crate::start::access::{DATABASE, HOST};
use crate::start::server::begin::run;
use crate::start::server::error::StartError;

const USER: &str = "root";
const SOCKET: &str = "mysql.sock";
const VERSION_QUERY: &str = "SELECT VERSION()";
const VARIABLES_QUERY: &str = "SHOW GLOBAL VARIABLES";
/// Returns one statement for each index of the database. The statement scans that index. The scan of a primary key
/// reads the table's rows, because InnoDB and MyRocks store them in the primary key.
const SCANS_QUERY: &str =
    "SELECT CONCAT('SELECT COUNT(*) FROM `', table_name, '` FORCE INDEX (`', index_name, '`)')
     FROM information_schema.statistics WHERE table_schema = DATABASE() AND seq_in_index = 1";
/// Prefix of InnoDB's redo logs in MariaDB and in MySQL up to 8.0.29. The server overwrites one log after the other, in
/// blocks of 512 bytes. From MySQL 5.7 on, `innodb_log_write_ahead_size` makes writes fill whole pages, so that a write
/// need not read a page first.
const INNODB_LOGS: &str = "ib_logfile";
const OWN_SETTINGS: &[&str] =
    &["basedir", "bind_address", "datadir", "init_file", "pid_file", "port", "socket", "user"];

const ACCOUNTS: &str = "accounts.sql";

/// The steps that differ between MySQL and MariaDB.
pub(super) trait Fork: Sync + Debug {
    /// Creates the data folder of a new server.
    fn create_data(&self, site: &Site<'_>) -> Result<(), StartError>;

    /// The statements that give an account all rights.
    fn grant(&self, site: &Site<'_>, account: &str) -> Vec<String>;

    /// Whether the default values of variables must be read from the output of the server's program. They must if the
    /// running server does not report them.
    fn prints_defaults(&self) -> bool;
}

impl<F: Fork> Procedure for F {
    fn user(&self) -> &'static str {
        USER
    }

    fn socket_name(&self, _port: u16) -> String {
        SOCKET.to_owned()
    }

    fn own_settings(&self) -> &'static [&'static str] {
        OWN_SETTINGS
    }

    fn initialize(&self, site: &Site<'_>) -> Result<(), StartError> {
        self.create_data(site)
    }

    fn take_over(&self, site: &Site<'_>) -> Result<(), StartError> {
        Ok(forget_others(&site.home.data())?)
    }

    fn server(&self, site: &Site<'_>) -> Result<Command, PathError> {
        let mut statements = vec![format!("CREATE DATABASE IF NOT EXISTS {DATABASE}")];
        statements.extend(accounts(site).flat_map(|account| self.grant(site, &account)));
        server(site, &statements)
    }

    fn tidy(&self, home: &Home) -> Result<(), PathError> {
        let path = home.folder().join(ACCOUNTS);
        fs::remove_file(&path).at("remove", &path)
    }

    fn dialect(&self) -> Dialect {
        Dialect::MYSQL
    }

    fn version_query(&self) -> &'static str {
        VERSION_QUERY
    }

    fn variables_query(&self) -> &'static str {
        VARIABLES_QUERY
    }

    fn scans_query(&self) -> &'static str {
        SCANS_QUERY
    }

    fn overwritten_logs(&self) -> Option<&'static str> {
        Some(INNODB_LOGS)
    }

    fn help(&self, site: &Site<'_>) -> Option<Command> {
        self.prints_defaults().then(|| help(site))
    }
}

/// Runs `mysqld --bootstrap` on the release's own SQL of the system tables (MySQL up to 5.6, MariaDB).
pub(super) fn bootstrap(site: &Site<'_>, forget_accounts: &str) -> Result<(), StartError> {
    site.home.create_data_with(&["mysql"])?;
    let mut sql = String::from("USE mysql;\n");
    for part in ["system_tables", "performance_tables", "system_tables_data"] {
        sql += &read_sql(site, part)?;
    }
    sql += forget_accounts;
    let path = site.home.write_secret("bootstrap.sql", &sql)?;
    let mut command = program(site);
    command.arg("--bootstrap");
    run(site, command, Some(&path))?;
    Ok(fs::remove_file(&path).at("remove", &path)?)
}

/// Reads a script of the system tables. MariaDB 11 gives the scripts other names, and MySQL has fewer scripts.
fn read_sql(site: &Site<'_>, part: &str) -> Result<String, PathError> {
    let share = site.path(&site.entry().layout.share);
    let paths = ["mariadb", "mysql"].map(|product| share.join(format!("{product}_{part}.sql")));
    match site.installation.read_first(&paths)? {
        Some(sql) => Ok(sql),
        None if part == "performance_tables" => Ok(String::new()),
        None => Err(io::Error::from(io::ErrorKind::NotFound)).at("read", &paths[1]),
    }
}

/// Runs `mysqld --initialize-insecure` (MySQL from 5.7). The only account gets a password before the server
/// listens.
pub(super) fn initialize(site: &Site<'_>) -> Result<(), StartError> {
    site.home.create_data()?;
    let mut command = program(site);
    command.arg("--initialize-insecure");
    run(site, command, None)
}

/// Removes files from the copy of a data folder: those that name other servers, and those with settings of the data's
/// owner.
fn forget_others(data: &Path) -> Result<(), PathError> {
    let is_of_owner = |name: &str| {
        let is_info =
            name.starts_with("master") || name.starts_with("relay-log") || name.starts_with("multi-master");
        name == "auto.cnf"
            || name == "mysqld-auto.cnf"
            || (is_info && Path::new(name).extension().is_some_and(|extension| extension == "info"))
    };
    for item in fs::read_dir(data).at("read", data)? {
        let path = item.at("read", data)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_of_owner) {
            fs::remove_file(&path).at("remove", &path)?;
        }
    }
    Ok(())
}

/// The command of the server. The server executes the statements in `accounts` before it accepts connections.
fn server(site: &Site<'_>, accounts: &[String]) -> Result<Command, PathError> {
    let steps = site.role.replication().and_then(|_| site.role.steps(site.entry().family));
    // The statements are not replicated, because each replica executes them itself.
    let unlogged = steps.and_then(Replicating::local_statement);
    let statements = unlogged.into_iter().chain(accounts.iter().map(String::as_str));
    // Each statement gets its own line, because old versions read one statement from each line.
    let statements: String = statements.flat_map(|statement| [statement, ";\n"]).collect();
    let accounts = site.home.write_for_server(ACCOUNTS, &statements)?;
    let mut command = program(site);
    command
        .arg(format!("--init-file={}", accounts.display()))
        .arg(format!("--socket={}", site.home.sockets().join(SOCKET).display()))
        .arg(format!("--pid-file={}", site.home.temporary().join("mysqld.pid").display()))
        .arg(format!("--bind-address={}", site.address()))
        .arg(format!("--port={}", site.port))
        // Without this option, the server may look up the host names of clients.
        .arg("--skip-name-resolve")
        .stdin(Stdio::null());
    if let Some(storage_engine) = site.storage_engine {
        command.arg(format!("--default-storage-engine={storage_engine}"));
    }
    if let Some(steps) = steps {
        command.args(steps.arguments(site)).envs(steps.environment(site));
    }
    Ok(command)
}

/// Returns the names of Dyno's account, one for each host. Without name resolution, logins by socket and by TCP need an
/// account each. Logins from other hosts need a third account.
fn accounts(site: &Site<'_>) -> impl Iterator<Item = String> {
    let hosts = ["localhost", HOST].into_iter().chain(site.listen.map(|_| "%"));
    hosts.map(|host| format!("'{USER}'@'{host}'"))
}

/// The command that prints the default values of all variables.
fn help(site: &Site<'_>) -> Command {
    let mut command = bare_program(site);
    command.args(["--verbose", "--help"]).stdin(Stdio::null());
    command
}

/// Returns a command for the server's program without settings, except for the folder of its messages.
fn bare_program(site: &Site<'_>) -> Command {
    let mut command = site.program(&site.path(&site.entry().layout.server));
    // The server accepts this option only as the first one.
    command.arg("--no-defaults");
    if let Some(share) = share(site) {
        command.arg(format!("--lc-messages-dir={}", share.display()));
    }
    command
}

/// Returns the folder of the server's messages. Returns `None` for an image that has this folder in an unusual place.
/// The server in such an image knows the place itself.
fn share(site: &Site<'_>) -> Option<PathBuf> {
    let share = &site.entry().layout.share;
    let is_known = site.installation.image.is_none() || !share.as_os_str().is_empty();
    is_known.then(|| site.path(share))
}

/// Returns a command for the server's program with the user's settings.
pub(crate) fn program(site: &Site<'_>) -> Command {
    let layout = &site.entry().layout;
    let mut command = bare_program(site);
    command
        .arg(format!("--basedir={}", site.installation.root.display()))
        .arg(format!("--datadir={}", site.home.data().display()))
        .arg(format!("--tmpdir={}", site.home.temporary().display()));
    if let Some(share) = share(site) {
        command.arg(format!("--character-sets-dir={}", share.join("charsets").display()));
    }
    if let Some(plugins) = &layout.plugins {
        command.arg(format!("--plugin-dir={}", site.path(plugins).display()));
    }
    let settings = site.settings.iter().filter(|(name, _)| !is_of_role(site, name));
    command.args(settings.map(|(name, value)| format!("--{name}={value}")));
    command
}

/// Whether a setting follows from the server's role. The user's value of such a setting is left out.
fn is_of_role(site: &Site<'_>, setting: &str) -> bool {
    let steps = site.role.replication().and_then(|_| site.role.steps(site.entry().family));
    steps.is_some_and(|steps| steps.own_settings().contains(&setting.replace('-', "_").as_str()))
}
