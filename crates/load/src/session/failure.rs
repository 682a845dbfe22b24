//! Errors of connections and statements, as scripts and users see them.

use std::io;

use dyno_client::{ClientError, EndpointError};
use dyno_script::SqlFailure;
use dyno_wire::ServerError;

use crate::protocol::job::Protocol;

/// MySQL's error of a connection that broke during a query, `CR_SERVER_LOST`.
const SERVER_LOST: u32 = 2013;
/// MySQL's error of a missing connection, `CR_SERVER_GONE_ERROR`.
const SERVER_GONE: u32 = 2006;
/// MySQL's error of a failed connection attempt, `CR_CONNECTION_ERROR`.
const CONNECTION_REFUSED: u32 = 2002;
/// MySQL's error of a broken protocol, `CR_MALFORMED_PACKET`.
const MALFORMED_PACKET: u32 = 2027;

/// The message that is used if a server's message is empty.
const WORDLESS: &str = "the server gives no reason";
/// Errors of MySQL after which an event is run again by default: deadlock, record changed, lock wait timeout
/// (sysbench's default of `--mysql-ignore-errors`).
const MYSQL_IGNORABLE: [u16; 3] = [1213, 1020, 1205];
/// Errors of PostgreSQL after which an event is run again by default: serialization failure, deadlock, and unique
/// violation. A unique violation happens when two connections delete and insert the same row at once.
const PGSQL_IGNORABLE: [&str; 3] = ["40001", "40P01", "23505"];

/// Further errors of MySQL after which an event is run again, in a load that continues when its connections are lost:
/// an interrupted statement (1317), and a table that was changed since the transaction began (1412).
const MYSQL_IGNORABLE_THROUGH_EVENTS: [u16; 2] = [1317, 1412];
/// The error of PostgreSQL after which an event is also run again, in a load that continues when its connections are
/// lost: a cancelled statement.
const PGSQL_IGNORABLE_THROUGH_EVENTS: [&str; 1] = ["57014"];

/// Errors of MySQL and MariaDB after which a session cannot continue: too many connections (1040), a node that has
/// not joined its Galera cluster (1047), shutdown (1053, 1079), an aborted connection (1152), a killed connection
/// (1927), and a connection that was idle for too long (4031).
const MYSQL_ENDING: [u32; 7] = [1040, 1047, 1053, 1079, 1152, 1927, 4031];
/// Classes and codes of SQL states after which a session of PostgreSQL cannot continue: connection errors, the
/// intervention of an operator (57P01 to 57P05), too many connections, a transaction that was idle for too long,
/// and a prepared statement whose result has other columns now.
const PGSQL_ENDING: [&str; 5] = ["08", "57P", "53300", "25P03", "0A000"];

/// Returns the errors after which an event is run again, in a load that continues when its connections are lost. `own`
/// is the user's list, which replaces the default list.
pub(crate) fn ignored_through_events(driver: Protocol, own: Option<Vec<String>>) -> Vec<String> {
    let numbers = |list: &[u16]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let states = |list: &[&str]| list.iter().map(|state| (*state).to_owned()).collect::<Vec<_>>();
    let (default, further) = match driver {
        Protocol::Mysql => (numbers(&MYSQL_IGNORABLE), numbers(&MYSQL_IGNORABLE_THROUGH_EVENTS)),
        Protocol::Pgsql => (states(&PGSQL_IGNORABLE), states(&PGSQL_IGNORABLE_THROUGH_EVENTS)),
        Protocol::Sqlite => (Vec::new(), Vec::new()),
    };
    let mut ignored = own.unwrap_or(default);
    ignored.extend(further);
    ignored
}

/// The error of a pipeline command in a script, if the database's protocol has no pipelines.
pub(crate) fn no_pipelines() -> SqlFailure {
    let message = "pipelines need PostgreSQL, and statements that it prepares".to_owned();
    SqlFailure { message, ..SqlFailure::default() }
}

/// Whether the session must be replaced after this error, although the connection may still be open.
pub(crate) fn ends_session(failure: &SqlFailure) -> bool {
    match failure.errno {
        0 => PGSQL_ENDING.iter().any(|ending| failure.state.starts_with(ending)),
        errno => MYSQL_ENDING.contains(&errno),
    }
}

/// Converts the error of a blocking connection that failed, or whose server reported an error. `ignored` replaces the
/// default list of errors after which an event is run again.
pub(crate) fn from_client(driver: Protocol, ignored: Option<&[String]>, error: ClientError) -> SqlFailure {
    match error {
        ClientError::Server(error) => from_server(driver, ignored, error),
        ClientError::Connect { address, source } => unreachable(driver, &address, &source),
        ClientError::Endpoint(error) => from_endpoint(driver, &error),
        error @ ClientError::LoginTimeout { .. } => late(driver, &error),
        ClientError::Io(error) => lost(driver, Some(&error)),
        _ => lost(driver, None),
    }
}

/// Converts an error that the server reported. `ignored` replaces the default list of errors after which an event is
/// run again.
pub(crate) fn from_server(driver: Protocol, ignored: Option<&[String]>, error: ServerError) -> SqlFailure {
    let ignorable = match (ignored, driver) {
        (Some(list), _) => is_listed(list, &error),
        (None, Protocol::Mysql) => MYSQL_IGNORABLE.contains(&error.code),
        (None, Protocol::Pgsql) => PGSQL_IGNORABLE.contains(&error.state.as_str()),
        (None, Protocol::Sqlite) => false,
    };
    let message = if error.message.is_empty() { WORDLESS.to_owned() } else { error.message };
    SqlFailure { errno: u32::from(error.code), state: error.state, message, ignorable }
}

fn is_listed(list: &[String], error: &ServerError) -> bool {
    let code = error.code.to_string();
    list.iter().any(|listed| *listed == "all" || *listed == code || *listed == error.state)
}

/// The error for a server that broke the protocol.
pub(crate) fn from_endpoint(driver: Protocol, error: &EndpointError) -> SqlFailure {
    client_side(driver, MALFORMED_PACKET, "08P01", error.to_string())
}

/// The error for a server that did not complete the login in time.
pub(crate) fn late(driver: Protocol, error: &ClientError) -> SqlFailure {
    client_side(driver, SERVER_LOST, "08001", error.to_string())
}

/// The error for a connection that broke while an answer was expected.
pub(crate) fn lost(driver: Protocol, error: Option<&io::Error>) -> SqlFailure {
    let why = error.map_or_else(|| "the server closed the connection".to_owned(), ToString::to_string);
    client_side(driver, SERVER_LOST, "08006", format!("lost the connection to the server: {why}"))
}

/// The error for a request on a closed connection.
pub(crate) fn gone(driver: Protocol) -> SqlFailure {
    client_side(driver, SERVER_GONE, "08003", "the connection is closed".to_owned())
}

/// The error for a failed attempt to connect.
pub(crate) fn unreachable(driver: Protocol, address: &str, error: &io::Error) -> SqlFailure {
    client_side(driver, CONNECTION_REFUSED, "08001", format!("cannot connect to {address}: {error}"))
}

/// The error for an `on_connect` statement that failed.
pub(crate) fn on_connect(sql: &str, mut error: SqlFailure) -> SqlFailure {
    error.message = format!("{} (in '{sql}', run on each new connection)", error.message);
    error.ignorable = false;
    error
}

fn client_side(driver: Protocol, errno: u32, pgsql_state: &str, message: String) -> SqlFailure {
    let (errno, state) = match driver {
        Protocol::Mysql => (errno, "HY000"),
        Protocol::Pgsql | Protocol::Sqlite => (0, pgsql_state),
    };
    SqlFailure { errno, state: state.to_owned(), message, ignorable: false }
}
