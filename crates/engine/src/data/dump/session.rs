//! The connection through which a dump is loaded.

use std::time::Duration;

use dyno_client::{Client, ClientError};

use crate::catalogue::entry::Family;
use crate::start::access::DATABASE;
use crate::start::server::Server;

/// Time limit of a login.
const LOGIN_PATIENCE: Duration = Duration::from_secs(30);

/// PostgreSQL's error codes for `duplicate_object` and `duplicate_database`. They are ignored, because the output of
/// `pg_dumpall` also creates objects that every server has, such as the superuser.
const THERE_ALREADY: [&str; 2] = ["42710", "42P04"];
/// PostgreSQL's error code for `undefined_object`, such as a role that does not exist.
const UNDEFINED: &str = "42704";

/// A connection that executes the statements of a dump.
pub(super) struct Session<'a> {
    server: &'a Server,
    client: Client,
}

impl<'a> Session<'a> {
    pub(super) fn open(server: &'a Server) -> Result<Self, ClientError> {
        if server.family() != Family::Postgres {
            // A statement of the dump may be as large as the dumped server accepted, up to 1 GiB. The setting applies
            // only to connections that are opened later.
            open(server, DATABASE)?.execute(b"SET GLOBAL max_allowed_packet = 1073741824", None)?;
        }
        Ok(Self { server, client: open(server, DATABASE)? })
    }

    /// Connects to another database, for the statements that follow.
    pub(super) fn connect(&mut self, database: &str) -> Result<(), ClientError> {
        self.client = open(self.server, database)?;
        Ok(())
    }

    pub(super) fn copy(&mut self, sql: &[u8], rows: &[u8]) -> Result<(), ClientError> {
        self.client.execute(sql, Some(rows))
    }

    pub(super) fn execute(&mut self, sql: &[u8]) -> Result<(), ClientError> {
        if self.is_of_the_server(sql) {
            return Ok(());
        }
        let mut made = String::new();
        loop {
            let refused = match self.client.execute(sql, None) {
                Err(ClientError::Server(error)) => error,
                outcome => return outcome,
            };
            if THERE_ALREADY.contains(&refused.state.as_str()) && begins_with(sql, "CREATE ") {
                return Ok(());
            }
            match missing_role(&refused.state, &refused.message) {
                // If the role is still missing after it was created, the server's error is returned.
                Some(role) if role != made => {
                    let quoted = role.replace('"', "\"\"");
                    self.client.execute(format!("CREATE ROLE \"{quoted}\"").as_bytes(), None)?;
                    role.clone_into(&mut made);
                }
                _ => return Err(ClientError::Server(refused)),
            }
        }
    }

    /// Whether a statement configures the server that was dumped, instead of loading its data. Such a statement sets
    /// the superuser's password, or the ids of transactions that replicas need not fetch.
    fn is_of_the_server(&self, sql: &[u8]) -> bool {
        if self.server.family() == Family::Postgres {
            return begins_with(sql, "ALTER ROLE postgres ");
        }
        begins_with(sql, "SET @@GLOBAL.GTID_PURGED")
    }
}

fn begins_with(sql: &[u8], begin: &str) -> bool {
    sql.trim_ascii_start().get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin.as_bytes()))
}

/// Returns the role that does not exist, according to the server's error. The text can be compared, because Dyno's
/// servers write their messages in English.
fn missing_role<'a>(state: &str, message: &'a str) -> Option<&'a str> {
    let name = message.strip_prefix("role \"")?.strip_suffix("\" does not exist")?;
    (state == UNDEFINED).then_some(name)
}

fn open(server: &Server, database: &str) -> Result<Client, ClientError> {
    let mut client = server.connect_to(database, LOGIN_PATIENCE)?;
    client.set_patience(None)?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_role_is_named_by_the_server() {
        assert_eq!(missing_role("42704", "role \"shop owner\" does not exist"), Some("shop owner"));
        assert_eq!(missing_role("42704", "type \"x\" does not exist"), None);
        assert_eq!(missing_role("28000", "role \"x\" does not exist"), None);
    }
}
