//! Statements of the traffic that a replay does not send.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sql::{Dialect, Words};

/// Why a statement is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotSent {
    /// The values were not kept, because one of them is a password or because the whole traffic is redacted.
    Redacted,
    /// The statement reads data from its client (`LOAD DATA LOCAL`, `COPY … FROM STDIN`), and no log contains this
    /// data.
    ClientData,
    /// The statement changes more than its database: accounts, settings of the server, other sessions, or files of
    /// the server.
    Server,
    /// The statement chooses a database, but all sessions of the replay use the same one.
    Database,
    /// The server refused the connection of the statement's session, or closed the connection before the statement.
    Disconnected,
}

impl NotSent {
    pub const ALL: [Self; 5] =
        [Self::Redacted, Self::ClientData, Self::Server, Self::Database, Self::Disconnected];

    /// The name of the reason in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Redacted => "redacted",
            Self::ClientData => "client_data",
            Self::Server => "server",
            Self::Database => "database",
            Self::Disconnected => "disconnected",
        }
    }

    /// Returns why statements of this shape are not sent; `None` if they are. Only the shape is examined. What
    /// functions and procedures do is not known.
    pub fn of(shape: &[u8], dialect: Dialect) -> Option<Self> {
        shape.split(|byte| *byte == b';').find_map(|part| of_one(part, dialect))
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of words of a statement that are examined.
const WORDS_MAX: usize = 10_000;

/// Objects of a server that belong to no database.
const OF_SERVER: [&str; 11] = [
    "database",
    "instance",
    "logfile",
    "resource",
    "role",
    "server",
    "subscription",
    "system",
    "tablespace",
    "undo",
    "user",
];

/// Words between `CREATE` and the kind of object.
const MODIFIERS: [&str; 2] = ["or", "replace"];

/// Functions of PostgreSQL that change the server, its files or other sessions.
const FUNCTIONS: [&str; 8] = [
    "lo_export",
    "pg_cancel_backend",
    "pg_file_write",
    "pg_promote",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_switch_wal",
    "pg_terminate_backend",
];

fn of_one(statement: &[u8], dialect: Dialect) -> Option<NotSent> {
    let words: Vec<String> = Words::of(statement).take(WORDS_MAX).collect();
    let (first, rest) = words.split_first()?;
    let is_mysql = dialect == Dialect::Mysql;
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    let is_of_server = match first.as_str() {
        "use" if is_mysql => return Some(NotSent::Database),
        "load" if is_mysql && has(&["local"]) => return Some(NotSent::ClientData),
        "copy" if has(&["stdin"]) => return Some(NotSent::ClientData),
        "set" => has(&["global", "persist", "persist_only", "password"]),
        "create" | "alter" | "drop" | "rename" => is_object_of_server(rest, is_mysql) || has(&["soname"]),
        "grant" | "revoke" => true,
        "binlog" | "change" | "clone" | "flush" | "install" | "kill" | "purge" | "reset" | "restart"
        | "shutdown" | "stop" | "uninstall" => is_mysql,
        "start" => has(&["slave", "replica", "group_replication", "all"]),
        "load" => !has(&["index"]),
        "copy" => !has(&["stdout"]),
        _ if is_mysql => rest.windows(2).any(|pair| pair[0] == "into" && is_file(&pair[1])),
        _ => has(&FUNCTIONS),
    };
    is_of_server.then_some(NotSent::Server)
}

/// Whether the object that is created, altered or dropped belongs to no database.
fn is_object_of_server(rest: &[String], is_mysql: bool) -> bool {
    let kind = rest.iter().find(|word| !MODIFIERS.contains(&word.as_str()));
    kind.is_some_and(|kind| OF_SERVER.contains(&kind.as_str()) || (is_mysql && kind == "schema"))
}

fn is_file(word: &str) -> bool {
    matches!(word, "outfile" | "dumpfile")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_beyond_the_database_is_not_sent() {
        for (statement, why) in [
            ("SET GLOBAL max_connections = ?", Some(NotSent::Server)),
            ("SET @a = ?, @@global.b = ?", Some(NotSent::Server)),
            ("SET SESSION sort_buffer_size = ?", None),
            ("DROP DATABASE shop", Some(NotSent::Server)),
            ("CREATE SCHEMA shop", Some(NotSent::Server)),
            ("CREATE OR REPLACE USER a", Some(NotSent::Server)),
            ("CREATE TABLE user (role INT)", None),
            ("CREATE FUNCTION f RETURNS STRING SONAME ?", Some(NotSent::Server)),
            ("GRANT ALL ON shop.* TO a", Some(NotSent::Server)),
            ("KILL ?", Some(NotSent::Server)),
            ("LOAD DATA LOCAL INFILE ? INTO TABLE t", Some(NotSent::ClientData)),
            ("LOAD DATA INFILE ? INTO TABLE t", Some(NotSent::Server)),
            ("SELECT a FROM t INTO OUTFILE ?", Some(NotSent::Server)),
            ("SELECT a INTO @b FROM t", None),
            ("USE shop", Some(NotSent::Database)),
            ("SELECT ? ; SHUTDOWN", Some(NotSent::Server)),
            ("SELECT `;` FROM t WHERE a IN (?)", None),
            ("START TRANSACTION", None),
        ] {
            assert_eq!(NotSent::of(statement.as_bytes(), Dialect::Mysql), why, "{statement}");
        }
        for (statement, why) in [
            ("COPY t FROM STDIN", Some(NotSent::ClientData)),
            ("COPY t TO STDOUT", None),
            ("COPY t FROM PROGRAM ?", Some(NotSent::Server)),
            ("SELECT lo_export(?, ?)", Some(NotSent::Server)),
            ("ALTER SYSTEM SET work_mem = ?", Some(NotSent::Server)),
            ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity", Some(NotSent::Server)),
            ("CREATE SCHEMA shop", None),
            ("RESET work_mem", None),
            ("DROP DATABASE shop", Some(NotSent::Server)),
        ] {
            assert_eq!(NotSent::of(statement.as_bytes(), Dialect::Postgresql), why, "{statement}");
        }
    }

    #[test]
    fn each_reason_has_the_name_that_is_stored() {
        for why in NotSent::ALL {
            assert_eq!(serde_json::to_string(&why).unwrap(), format!("\"{why}\""));
        }
    }
}
