//! Loading data into a server that Dyno did not start. Dyno drops only what it has made there.
//!
//! A [`Survey`] examines a database. It refuses a database that contains anything that no run of Dyno has made. A
//! [`Hold`] claims the database and leaves a mark in it. The mark lists the relations that loads make. At the end, the
//! hold drops these relations. Dyno recognises its tables by name and identity together: if somebody drops a table and
//! makes it again, it is no longer Dyno's.

mod catalog;
mod error;
mod mark;
mod own_database;
mod premises;
mod relation;
mod survey;

use std::collections::{BTreeMap, BTreeSet};

pub use self::error::HoldError;
use self::mark::Mark;
use self::premises::Premises;
use self::relation::{Identity, Relation};
pub use self::survey::Survey;
use super::Remote;

/// A database of a running server that Dyno loads. While this value exists, no other run of Dyno can hold the
/// database.
pub struct Hold {
    premises: Premises,
    mark: Mark,
    /// Relations that Dyno did not make, but that it may drop, because the user has allowed it.
    permitted: BTreeSet<String>,
    /// Whether the tables that this run makes stay after the run.
    keeps: bool,
    /// Whether this run has begun a load.
    has_loaded: bool,
    /// Relations that Dyno has made, with their identities.
    made: BTreeMap<String, Identity>,
    /// Relations that existed at the last [`rest`](Self::rest), with their identities, and whether loads may drop
    /// them.
    before: BTreeMap<String, (Identity, bool)>,
}

/// The relations that Dyno could not drop from a database, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The database and its server.
    pub database: String,
    /// The names of the relations that could not be dropped. Empty if they are not known.
    pub names: Vec<String>,
    /// Why Dyno could not drop the relations, in words.
    pub reason: String,
}

impl Hold {
    /// Returns the server, with the held database as its database.
    pub fn remote(&self) -> &Remote {
        self.premises.remote()
    }

    /// Prepares a load. Checks again that Dyno made, or may drop, everything in the database. Before the first load,
    /// drops the tables that earlier runs left or kept.
    ///
    /// # Errors
    /// Somebody else has made a relation in the database, or the server refuses a statement.
    pub fn begin_load(&mut self) -> Result<(), HoldError> {
        let came: Vec<String> =
            self.foreign()?.into_iter().filter(|name| !self.permitted.contains(name)).collect();
        if !came.is_empty() {
            return Err(HoldError::Came { database: self.premises.name(), names: came });
        }
        if !self.has_loaded {
            self.mark.keep_no_more(&mut self.premises)?;
            self.drop_made()?;
            self.has_loaded = true;
        }
        self.rest()
    }

    /// Records the relations that the load process has made since the last [`rest`](Self::rest). `named` contains all
    /// words, in lower case, of the statements by which the load process has changed tables since then. A new or
    /// changed relation whose name is not among these words was made by somebody else.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub fn note(&mut self, named: &BTreeSet<String>) -> Result<(), HoldError> {
        // A plan without loads makes nothing that must be dropped.
        if named.is_empty() || !self.has_loaded {
            return Ok(());
        }
        for relation in self.premises.relations()? {
            let name = relation.to_string();
            let is_changed = match self.before.get(&name) {
                Some((identity, is_ours)) => *is_ours && *identity != relation.identity,
                None => true,
            };
            let is_news = is_changed && !self.has_made(&relation) && !Mark::is(&relation);
            if is_news && named.contains(&relation.name.to_lowercase()) {
                self.mark.note(&mut self.premises, &relation)?;
                self.made.insert(name, relation.identity);
            }
        }
        Ok(())
    }

    /// Records that the load process has no job. Relations that appear between this call and the next job are not
    /// Dyno's.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn rest(&mut self) -> Result<(), HoldError> {
        let relations = self.premises.relations()?;
        let seen = |relation: Relation| {
            let name = relation.to_string();
            let is_ours = self.has_made(&relation) || self.permitted.contains(&name);
            (name, (relation.identity, is_ours))
        };
        self.before = relations.into_iter().map(seen).collect();
        Ok(())
    }

    /// Keeps the connection alive. The hold lasts only as long as the connection.
    ///
    /// # Errors
    /// The server does not answer, or another run has taken the database.
    pub fn stay(&mut self) -> Result<(), HoldError> {
        self.premises.query("SELECT 1").map(|_| ())
    }

    /// Drops the relations that Dyno made, and the mark, unless they are to stay. Returns what could not be dropped.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn release(mut self) -> Result<Option<Left>, HoldError> {
        if self.keeps && self.has_loaded {
            self.mark.keep(&mut self.premises)?;
            return Ok(None);
        }
        if self.mark.is_kept() {
            return Ok(None);
        }
        let refused = self.drop_made()?;
        let database = self.premises.name();
        let left = |names, reason| Ok(Some(Left { database, names, reason }));
        if let Some((names, reason)) = refused {
            return left(names, reason);
        }
        let foreign: Vec<String> =
            self.foreign()?.into_iter().filter(|name| !self.permitted.contains(name)).collect();
        let is_ours = self.mark.is_of_database();
        if is_ours && foreign.is_empty() {
            own_database::remove(self.premises)?;
            return Ok(None);
        }
        self.mark.remove(&mut self.premises)?;
        if foreign.is_empty() {
            return Ok(None);
        }
        left(foreign, "Dyno did not create it, or cannot recognise it".to_owned())
    }

    /// Names of the relations that Dyno did not make.
    fn foreign(&mut self) -> Result<Vec<String>, HoldError> {
        let relations = self.premises.relations()?;
        let is_foreign = |relation: &&Relation| !Mark::is(relation) && !self.has_made(relation);
        Ok(relations.iter().filter(is_foreign).map(ToString::to_string).collect())
    }

    fn has_made(&self, relation: &Relation) -> bool {
        self.made.get(&relation.to_string()) == Some(&relation.identity)
    }

    /// Drops the relations that Dyno made. If relation A depends on relation B, the server refuses to drop B before A,
    /// so this takes several passes. `CASCADE` is not used, because it could drop what somebody else made. Returns the
    /// relations that cannot be dropped, and why.
    fn drop_made(&mut self) -> Result<Option<(Vec<String>, String)>, HoldError> {
        loop {
            let (mut refused, mut has_dropped) = (None, false);
            let relations = self.premises.relations()?;
            let made: Vec<&Relation> = relations.iter().filter(|relation| self.has_made(relation)).collect();
            for &relation in &made {
                let (kind, name) = (relation.kind.sql(), self.premises.sql_name(relation));
                match self.premises.query(&format!("DROP {kind} {name}")) {
                    Ok(_) => has_dropped = true,
                    Err(HoldError::Client {
                        source: source @ dyno_client::ClientError::Server(_), ..
                    }) => {
                        refused = Some(source.to_string());
                    }
                    Err(error) => return Err(error),
                }
            }
            match refused {
                Some(reason) if !has_dropped => {
                    return Ok(Some((made.iter().map(ToString::to_string).collect(), reason)));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }
}
