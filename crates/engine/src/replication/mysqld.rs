//! Replication of MySQL and MariaDB, by the binary log from its beginning.
//!
//! MySQL renamed its statements, columns and plug-ins: `master` became `source`, and `slave` became `replica`. From
//! 8.0.26 on, all have the new names. MariaDB has kept the old names. MariaDB has semi-synchronous replication built in
//! since 10.3.3.

use dyno_client::{Client, ClientError, ResultSet};

use super::{ReplicaStatus, Replicating, remove};
use crate::catalogue::entry::{Entry, Family};
use crate::family::site::Site;
use crate::replication::failover::Progress;
use crate::replication::role::{Replication, ReplicationMode, Role};
use crate::start::access::HOST;
use crate::start::server::error::StartError;

/// Settings that follow from a server's role as a primary or a replica.
const OF_ROLE: [&str; 3] = ["log_bin", "server_id", "skip_log_bin"];
/// Name of the binary log. Its first file is `binlog.000001`, in which events begin at byte 4.
const LOG: &str = "binlog";
/// The file with the server's UUID. A copy of the data must not have it.
const IDENTITY: &str = "auto.cnf";
/// How long a primary waits for replicas, in ms. This is the longest time that all versions accept, 49 days, so a
/// primary never gives up.
const TIMEOUT_MS: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct MysqldReplication;

/// A version's words for a primary and a replica in the names of settings and plug-ins.
struct Words {
    source: &'static str,
    replica: &'static str,
}

const OLD: Words = Words { source: "master", replica: "slave" };
const NEW: Words = Words { source: "source", replica: "replica" };

impl Replicating for MysqldReplication {
    fn check(&self, site: &Site<'_>) -> Result<(), StartError> {
        let (entry, layout) = (site.entry(), &site.entry().layout);
        let name = match site.role {
            Role::Alone => return Ok(()),
            Role::Primary(_) => words(entry).source,
            Role::Replica { .. } => words(entry).replica,
        };
        let waits = site.role.replication().is_some_and(|it| it.mode != ReplicationMode::Asynchronous);
        let needed = library(entry, name).filter(|_| waits && site.installation.image.is_none());
        let is_there = |library: &String| {
            layout.plugins.as_ref().is_some_and(|folder| site.path(&folder.join(library)).is_file())
        };
        match needed.filter(|library| !is_there(library)) {
            Some(library) => Err(StartError::NoPlugin { entry: entry.to_string(), library }),
            None => Ok(()),
        }
    }

    fn own_settings(&self) -> &'static [&'static str] {
        &OF_ROLE
    }

    fn local_statement(&self) -> Option<&'static str> {
        Some("SET SESSION sql_log_bin = 0")
    }

    fn arguments(&self, site: &Site<'_>) -> Vec<String> {
        let entry = site.entry();
        match site.role {
            Role::Alone => Vec::new(),
            Role::Primary(replication) => {
                let mut arguments = vec![format!("--log-bin={LOG}"), "--server-id=1".to_owned()];
                arguments.extend(waiting(entry, replication));
                arguments
            }
            Role::Replica { number, replication, .. } => {
                let mut arguments = vec![
                    format!("--server-id={}", number + 1),
                    "--relay-log=relay".to_owned(),
                    "--read-only=ON".to_owned(),
                ];
                if replication.mode != ReplicationMode::Asynchronous {
                    let name = words(entry).replica;
                    arguments.extend(plugin(entry, name));
                    arguments.push(format!("--rpl-semi-sync-{name}-enabled=ON"));
                }
                arguments
            }
        }
    }

    fn prepare(&self, site: &Site<'_>) -> Result<(), StartError> {
        Ok(remove(&site.home.data().join(IDENTITY))?)
    }

    fn primary_statements(&self, entry: &Entry) -> Vec<String> {
        vec![forget_history(entry).to_owned()]
    }

    fn replica_statements(&self, entry: &Entry, host: &str, role: &Role) -> Vec<String> {
        let Role::Replica { replication, primary, .. } = role else { return Vec::new() };
        let is_new = words(entry).source == NEW.source;
        let (word, statement, start) = if is_new {
            ("SOURCE", "CHANGE REPLICATION SOURCE TO", "START REPLICA")
        } else {
            ("MASTER", "CHANGE MASTER TO", "START SLAVE")
        };
        let mut options = vec![
            format!("{word}_HOST = '{host}'"),
            format!("{word}_PORT = {}", primary.port),
            format!("{word}_USER = '{}'", primary.user),
            format!("{word}_PASSWORD = '{}'", primary.password),
            format!("{word}_LOG_FILE = '{LOG}.000001'"),
            format!("{word}_LOG_POS = 4"),
            format!("{word}_CONNECT_RETRY = 1"),
            format!("{word}_SSL = 0"),
        ];
        if replication.delay_seconds > 0 {
            options.push(format!("{word}_DELAY = {}", replication.delay_seconds));
        }
        if entry.family == Family::Mysql && number(entry) >= (8, 0, 4) {
            options.push(format!("GET_{word}_PUBLIC_KEY = 1"));
        }
        let mut statements = Vec::new();
        if entry.family == Family::Mysql && entry.is_at_least(5, 7) {
            // The identifiers of the copied data's transactions are forgotten. Otherwise the replica would leave out
            // transactions of the primary with these identifiers.
            statements.push(forget_history(entry).to_owned());
        }
        statements.push(format!("{statement} {}", options.join(", ")));
        statements.push(start.to_owned());
        statements
    }

    fn guard_statements(&self, entry: &Entry) -> Vec<String> {
        read_only(entry)
    }

    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError> {
        let row = Row::of(client)?;
        let place =
            |file: [&str; 2], position: [&str; 2]| (number_of_file(&row.either(file)), row.number(position));
        Ok(Progress {
            received: place(
                ["Source_Log_File", "Master_Log_File"],
                ["Read_Source_Log_Pos", "Read_Master_Log_Pos"],
            ),
            applied: place(
                ["Relay_Source_Log_File", "Relay_Master_Log_File"],
                ["Exec_Source_Log_Pos", "Exec_Master_Log_Pos"],
            ),
        })
    }

    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError> {
        new_or_old(client, "STOP REPLICA IO_THREAD", "STOP SLAVE IO_THREAD")
    }

    fn promote(&self, client: &mut Client, _replication: &Replication) -> Result<(), ClientError> {
        new_or_old(client, "STOP REPLICA", "STOP SLAVE")?;
        new_or_old(client, "RESET REPLICA ALL", "RESET SLAVE ALL")?;
        client.query("SET GLOBAL read_only = OFF").map(drop)
    }

    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError> {
        let row = Row::of(client)?;
        let sql_error = row.either(["Last_SQL_Error"; 2]);
        let io_error = row.either(["Last_IO_Error"; 2]);
        let is_down = |running: [&str; 2]| row.either(running).eq_ignore_ascii_case("no");
        let stopped = if row.0.rows.is_empty() {
            Some("it follows no server".to_owned())
        } else if is_down(["Replica_SQL_Running", "Slave_SQL_Running"]) && !sql_error.is_empty() {
            Some(sql_error)
        } else if is_down(["Replica_IO_Running", "Slave_IO_Running"]) && !io_error.is_empty() {
            Some(io_error)
        } else {
            None
        };
        let behind = row.either(["Seconds_Behind_Source", "Seconds_Behind_Master"]);
        Ok(ReplicaStatus { behind_seconds: behind.parse().ok(), stopped })
    }

    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError> {
        let rows = client.query("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'")?.rows;
        let value = |end: &str| {
            let of_primary = [OLD.source, NEW.source].map(|word| format!("rpl_semi_sync_{word}_{end}"));
            let is_it = |row: &&Vec<Option<String>>| {
                row.first()
                    .and_then(Option::as_deref)
                    .is_some_and(|name| of_primary.contains(&name.to_ascii_lowercase()))
            };
            rows.iter().find(is_it).and_then(|row| row.get(1).cloned().flatten()).unwrap_or_default()
        };
        Ok(if value("status") == "ON" { value("clients").parse().unwrap_or(0) } else { 0 })
    }
}

/// The answer of a replica to `SHOW REPLICA STATUS`: one row, or none.
struct Row(ResultSet);

impl Row {
    fn of(client: &mut Client) -> Result<Self, ClientError> {
        match client.query("SHOW REPLICA STATUS") {
            // Older servers do not know the statement.
            Err(ClientError::Server(_)) => client.query("SHOW SLAVE STATUS").map(Self),
            answer => answer.map(Self),
        }
    }

    /// Returns the value in a column, given the column's new and old names. Empty if there is none.
    fn either(&self, names: [&str; 2]) -> String {
        let column = |name: &str| {
            let place = self.0.columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
            self.0.rows.first()?.get(place).cloned().flatten()
        };
        names.into_iter().find_map(column).unwrap_or_default()
    }

    fn number(&self, names: [&str; 2]) -> u64 {
        self.either(names).parse().unwrap_or(0)
    }
}

/// Returns the number in a log file's name, such as 12 for `binlog.000012`.
fn number_of_file(name: &str) -> u64 {
    name.rsplit('.').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Executes a statement written with the new names. If the server refuses it, executes the statement written with the
/// old names.
fn new_or_old(client: &mut Client, new: &str, old: &str) -> Result<(), ClientError> {
    match client.query(new) {
        Err(ClientError::Server(_)) => client.query(old).map(drop),
        answer => answer.map(drop),
    }
}

/// Returns the statement that deletes the binary log and starts a new one.
fn forget_history(entry: &Entry) -> &'static str {
    if entry.family == Family::Mysql && entry.is_at_least(8, 2) {
        "RESET BINARY LOGS AND GTIDS"
    } else {
        "RESET MASTER"
    }
}

/// Returns the arguments that make a primary's commits wait for replicas.
fn waiting(entry: &Entry, replication: &Replication) -> Vec<String> {
    if replication.mode == ReplicationMode::Asynchronous {
        return Vec::new();
    }
    let Words { source, replica } = words(entry);
    let mut arguments: Vec<String> = plugin(entry, source).into_iter().collect();
    arguments.push(format!("--rpl-semi-sync-{source}-enabled=ON"));
    arguments.push(format!("--rpl-semi-sync-{source}-timeout={TIMEOUT_MS}"));
    let waits_for = replication.mode.waits_for(replication.replicas);
    if waits_for > 1 {
        arguments.push(format!("--rpl-semi-sync-{source}-wait-for-{replica}-count={waits_for}"));
    }
    arguments
}

/// Returns the file of the plug-in for a primary or a replica (`side`). Returns `None` if it is built in.
fn library(entry: &Entry, side: &str) -> Option<String> {
    let is_built_in = entry.family == Family::Mariadb && number(entry) >= (10, 3, 3);
    (!is_built_in).then(|| format!("semisync_{side}.so"))
}

/// Returns the argument that loads the plug-in for a primary or a replica (`side`).
fn plugin(entry: &Entry, side: &str) -> Option<String> {
    library(entry, side).map(|library| format!("--plugin-load-add={library}"))
}

fn words(entry: &Entry) -> Words {
    if entry.family == Family::Mysql && number(entry) >= (8, 0, 26) { NEW } else { OLD }
}

/// Returns the version's numbers. A version without a third number means the latest such version.
fn number(entry: &Entry) -> (u32, u32, u32) {
    let has_third = entry.version.split('.').count() > 2;
    let third = if has_third { entry.version_number(2) } else { u32::MAX };
    (entry.version_number(0), entry.version_number(1), third)
}

/// Returns statements that keep Dyno's own account from writing on a replica. Empty if the server cannot do that.
fn read_only(entry: &Entry) -> Vec<String> {
    match entry.family {
        Family::Mysql if number(entry) >= (5, 7, 8) => vec!["SET GLOBAL super_read_only = ON".to_owned()],
        Family::Mariadb if entry.is_at_least(10, 11) => {
            let mut statements = vec!["SET SESSION sql_log_bin = 0".to_owned()];
            let revoke = |host| format!("REVOKE READ ONLY ADMIN ON *.* FROM 'root'@'{host}'");
            statements.extend(["localhost", HOST].map(revoke));
            statements
        }
        _ => Vec::new(),
    }
}
