//! A connection to a database that Dyno holds. While it is open, no other run of Dyno gets the database.

use std::thread;
use std::time::{Duration, Instant};

use dyno_client::{Client, ClientError, ResultSet};

use super::catalog::{Catalog, catalog};
use super::error::HoldError;
use super::relation::Relation;
use crate::remote::Remote;

/// Time limit of a statement. A large table takes a while to drop.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long to try to get a lock. Another run that examines the database has the lock for a moment, and a server may
/// notice late that a connection is gone.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);
const LOCK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A database of a running server, with Dyno's lock on it.
pub(super) struct Premises {
    remote: Remote,
    /// The connection. `None` if it broke. The next statement opens another connection.
    client: Option<Client>,
}

impl Premises {
    /// Takes the lock of a database.
    ///
    /// # Errors
    /// Another run of Dyno has the lock, or the server refuses a statement.
    pub(super) fn enter(remote: Remote) -> Result<Self, HoldError> {
        let mut premises = Self { remote, client: None };
        premises.client()?;
        Ok(premises)
    }

    pub(super) fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Returns the database's name for messages.
    pub(super) fn name(&self) -> String {
        format!("the database {} of {}", self.remote.database(), self.remote)
    }

    fn catalog(&self) -> &'static dyn Catalog {
        catalog(self.remote.family())
    }

    fn client(&mut self) -> Result<&mut Client, HoldError> {
        let opened = match self.client.take() {
            Some(client) => client,
            None => self.open()?,
        };
        Ok(self.client.insert(opened))
    }

    fn open(&self) -> Result<Client, HoldError> {
        let mut client =
            self.remote.open(self.remote.patience()).map_err(|source| self.remote.refused(source))?;
        let failed = |source| HoldError::Client { database: self.name(), source };
        client.set_patience(Some(PATIENCE)).map_err(failed)?;
        for statement in self.catalog().session() {
            match client.query(statement) {
                // A refusal is ignored, because an old server may lack the variable that the statement sets.
                Ok(_) | Err(ClientError::Server(_)) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let asked_at = Instant::now();
        loop {
            let answer = client.query(self.catalog().lock()).map_err(failed)?;
            let word = answer.rows.into_iter().flatten().flatten().next();
            if word.is_some_and(|word| word == "1" || word == "t") {
                return Ok(client);
            }
            if asked_at.elapsed() > LOCK_PATIENCE {
                return Err(HoldError::InUse { database: self.name() });
            }
            thread::sleep(LOCK_AGAIN_AFTER);
        }
    }

    /// Executes a statement.
    ///
    /// # Errors
    /// The server refuses the statement, or the connection broke.
    pub(super) fn query(&mut self, sql: &str) -> Result<ResultSet, HoldError> {
        self.ask(|client, _| client.query(sql))
    }

    /// Returns all relations of the database. If the connection is broken, opens a new one.
    ///
    /// # Errors
    /// The server does not answer.
    pub(super) fn relations(&mut self) -> Result<Vec<Relation>, HoldError> {
        let list = |client: &mut Client, catalog: &dyn Catalog| catalog.relations(client);
        match self.ask(list) {
            Err(HoldError::Client { source, .. }) if !matches!(source, ClientError::Server(_)) => {
                self.ask(list)
            }
            listed => listed,
        }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Client, &dyn Catalog) -> Result<T, ClientError>,
    ) -> Result<T, HoldError> {
        let catalog = self.catalog();
        let answer = question(self.client()?, catalog);
        answer.map_err(|source| {
            if !matches!(source, ClientError::Server(_)) {
                self.client = None;
            }
            HoldError::Client { database: self.name(), source }
        })
    }

    /// Returns a relation's name as SQL statements write it.
    pub(super) fn sql_name(&self, relation: &Relation) -> String {
        let catalog = self.catalog();
        let words = catalog.schema(relation).into_iter().chain([relation.name.as_str()]);
        words.map(|word| catalog.quote(word)).collect::<Vec<_>>().join(".")
    }

    /// SQL that follows the columns in the `CREATE TABLE` of Dyno's table `dyno_mark`.
    pub(super) fn mark_options(&self) -> &'static str {
        self.catalog().mark_options()
    }
}
