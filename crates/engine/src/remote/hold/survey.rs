//! Examines a database before anything is changed in it.

use std::collections::{BTreeMap, BTreeSet};

use super::error::HoldError;
use super::mark::Mark;
use super::premises::Premises;
use super::relation::{Identity, Relation};
use super::{Hold, own_database};
use crate::remote::Remote;

/// The content of a database. While this value, or the [`Hold`](super::Hold) that it becomes, exists, no other run
/// of Dyno can hold the database.
pub struct Survey(Found);

enum Found {
    /// The address names no database.
    Nowhere(Box<Remote>),
    Database(Box<Surveyed>),
}

struct Surveyed {
    premises: Premises,
    mark: Option<Mark>,
    relations: Vec<Relation>,
}

impl Survey {
    /// Examines the database that the server's address names. Changes nothing.
    ///
    /// # Errors
    /// Another run of Dyno holds the database, or the server refuses a statement.
    pub fn of(remote: &Remote) -> Result<Self, HoldError> {
        if !remote.dsn.names_database() {
            return Ok(Self(Found::Nowhere(Box::new(remote.clone()))));
        }
        Self::in_database(remote.clone())
    }

    /// Examines the database that connections to `remote` use.
    pub(super) fn in_database(remote: Remote) -> Result<Self, HoldError> {
        Ok(Self(Found::Database(Box::new(Surveyed::of(Premises::enter(remote)?)?))))
    }

    /// Returns the database if a run of Dyno has made it and has not dropped it. Returns `None` if that run was told to
    /// keep the database, or if somebody else has made a relation in it.
    pub(super) fn into_leftover(self) -> Option<Premises> {
        let is_empty = self.foreign().is_empty();
        let Found::Database(surveyed) = self.0 else { return None };
        let is_left = surveyed.mark.as_ref().is_some_and(|mark| mark.is_of_database() && !mark.is_kept());
        (is_left && is_empty).then_some(surveyed.premises)
    }

    /// Returns names of the relations that no run of Dyno has made. Leaves out relations of PostgreSQL's extensions.
    pub fn foreign(&self) -> Vec<String> {
        self.names(|surveyed, relation| !surveyed.has_made(relation))
    }

    /// Names of the relations that earlier runs of Dyno have made.
    pub fn made(&self) -> Vec<String> {
        self.names(Surveyed::has_made)
    }

    /// Whether an earlier run of Dyno has left or kept something in the database.
    pub fn has_mark(&self) -> bool {
        matches!(&self.0, Found::Database(surveyed) if surveyed.mark.is_some())
    }

    fn names(&self, is_it: impl Fn(&Surveyed, &Relation) -> bool) -> Vec<String> {
        let Found::Database(surveyed) = &self.0 else { return Vec::new() };
        let relations = surveyed.relations.iter().filter(|relation| !Mark::is(relation));
        relations.filter(|relation| is_it(surveyed, relation)).map(ToString::to_string).collect()
    }

    /// Checks that runs of Dyno have made all relations.
    ///
    /// # Errors
    /// There is a relation that no run of Dyno has made.
    pub fn check(&self) -> Result<(), HoldError> {
        let names = self.foreign();
        match &self.0 {
            Found::Database(surveyed) if !names.is_empty() => {
                Err(HoldError::Foreign { database: surveyed.premises.name(), names })
            }
            _ => Ok(()),
        }
    }

    /// Claims the database and leaves a mark in it. If the address names no database, makes one. With `may_drop`,
    /// loads may drop the relations that exist now. With `keeps`, the relations that loads make stay.
    ///
    /// # Errors
    /// There is a relation that no run of Dyno has made, or the server refuses a statement.
    pub fn hold(self, may_drop: bool, keeps: bool) -> Result<Hold, HoldError> {
        if !may_drop {
            self.check()?;
        }
        let permitted = self.foreign().into_iter().collect();
        let (surveyed, of_database) = match self.0 {
            Found::Database(surveyed) => (*surveyed, false),
            Found::Nowhere(remote) => {
                own_database::remove_leftovers(&remote);
                (Surveyed::of(Premises::enter(own_database::make(&remote)?)?)?, true)
            }
        };
        surveyed.hold(permitted, keeps, of_database)
    }
}

impl Surveyed {
    fn of(mut premises: Premises) -> Result<Self, HoldError> {
        let relations = premises.relations()?;
        let mark = relations.iter().find(|relation| Mark::is(relation));
        let mark = mark.map(|relation| Mark::read(&mut premises, relation)).transpose()?;
        Ok(Self { premises, mark, relations })
    }

    fn has_made(&self, relation: &Relation) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.knows(relation))
    }

    fn hold(
        mut self,
        permitted: BTreeSet<String>,
        keeps: bool,
        of_database: bool,
    ) -> Result<Hold, HoldError> {
        let made = self.relations.iter().filter(|relation| self.has_made(relation));
        let identified = |it: &Relation| (it.to_string(), it.identity.clone());
        let made: BTreeMap<String, Identity> = made.map(identified).collect();
        let mark = match self.mark {
            Some(mark) => mark,
            None => Mark::make(&mut self.premises, of_database)?,
        };
        Ok(Hold {
            premises: self.premises,
            mark,
            permitted,
            keeps,
            has_loaded: false,
            made,
            before: BTreeMap::new(),
        })
    }
}
