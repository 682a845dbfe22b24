//! Logins to servers that Dyno started.

use std::time::Duration;

use dyno_client::{Account, Client, ClientError, Login, ResultSet, ServerAddress};

use crate::catalogue::entry::Family;
use crate::family::procedure;
use crate::family::site::Procedure;
use crate::start::access::{Access, DATABASE, HOST};

/// How to connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Socket,
    Tcp,
}

/// Connects to a server of a family and logs in. `patience` is the time limit of each answer.
///
/// # Errors
/// The family has no server, or the server refuses the login or does not answer.
pub fn connect(
    family: Family,
    access: &Access,
    transport: Transport,
    patience: Duration,
) -> Result<Client, ClientError> {
    let procedure = procedure(family).ok_or(ClientError::NoServer)?;
    connect_by(procedure, access, transport, patience)
}

pub(crate) fn connect_by(
    procedure: &dyn Procedure,
    access: &Access,
    transport: Transport,
    patience: Duration,
) -> Result<Client, ClientError> {
    connect_to(procedure, access, DATABASE, transport, patience)
}

/// Like [`connect_by`], but in another database.
pub(crate) fn connect_to(
    procedure: &dyn Procedure,
    access: &Access,
    database: &str,
    transport: Transport,
    patience: Duration,
) -> Result<Client, ClientError> {
    let login = Login {
        user: access.user.clone(),
        password: access.password.clone(),
        database: database.to_owned(),
        ..Login::default()
    };
    let address = match transport {
        Transport::Socket => ServerAddress::unix(&access.socket)?,
        Transport::Tcp => ServerAddress::resolve(HOST, access.port)?,
    };
    Client::connect(&Account::new(procedure.dialect(), login), &address, patience)
}

/// Returns the names and values in the answer to a query for settings.
pub(crate) fn variables_of(result: ResultSet) -> Vec<(String, String)> {
    let name_and_value = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        Some((fields.next()?, fields.next()?))
    };
    result.rows.into_iter().filter_map(name_and_value).collect()
}
