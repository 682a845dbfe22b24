//! Dyno's own database on a running server, for an address without a database.

use std::thread;
use std::time::{Duration, Instant};

use dyno_client::ClientError;

use super::catalog::catalog;
use super::error::HoldError;
use super::premises::Premises;
use super::survey::Survey;
use crate::machine::hexadecimal::hexadecimal;
use crate::remote::{Remote, elsewhere};

/// The beginning of the database's name. 16 hexadecimal digits follow.
const PREFIX: &str = "dyno_";
const DIGITS: usize = 16;

/// How long, and how often, Dyno tries to drop a database that connections of an ended load still use.
const IN_USE_PATIENCE: Duration = Duration::from_secs(20);
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Makes a database with a new name.
///
/// # Errors
/// The account may not make a database.
pub(super) fn make(remote: &Remote) -> Result<Remote, HoldError> {
    let not_made = |source| HoldError::NotMade { dsn: remote.to_string(), source };
    let mut bytes = [0; DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|error| not_made(std::io::Error::from(error).into()))?;
    let name = format!("{PREFIX}{}", hexadecimal(&bytes));
    let sql = format!("CREATE DATABASE {}", catalog(remote.family()).quote(&name));
    remote.query(&sql).map_err(not_made)?;
    Ok(remote.in_database(&name)?)
}

/// Whether a name has the form of the names that [`make`] gives.
pub(super) fn is_own_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Drops a database that Dyno has made.
///
/// # Errors
/// The server refuses the statement.
pub(super) fn remove(premises: Premises) -> Result<(), HoldError> {
    let (remote, database) = (premises.remote().clone(), premises.name());
    drop(premises);
    let sql = format!("DROP DATABASE {}", catalog(remote.family()).quote(remote.database()));
    let remote = remote.in_database(elsewhere(remote.family()))?;
    let began = Instant::now();
    loop {
        let dropped = remote.open(remote.patience()).and_then(|mut client| client.query(&sql));
        match dropped {
            Ok(_) => return Ok(()),
            Err(ClientError::Server(_)) if began.elapsed() < IN_USE_PATIENCE => thread::sleep(AGAIN_AFTER),
            Err(source) => return Err(HoldError::Client { database, source }),
        }
    }
}

/// Drops the databases that killed runs have left. Such a database has a name like those of [`make`], has Dyno's mark,
/// contains only what Dyno made, and is not in use by a run. A database that cannot be examined stays.
pub(super) fn remove_leftovers(remote: &Remote) {
    let Ok(list) = remote.query(catalog(remote.family()).own_databases()) else { return };
    let names = list.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    for name in names.filter(|name| is_own_name(name)) {
        // An error is ignored, because another run may have just dropped this database, or may be using it.
        let _ = remove_leftover(remote, &name);
    }
}

fn remove_leftover(remote: &Remote, name: &str) -> Result<(), HoldError> {
    let survey = Survey::in_database(remote.in_database(name)?)?;
    match survey.into_leftover() {
        Some(premises) => remove(premises),
        None => Ok(()),
    }
}
