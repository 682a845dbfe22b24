//! A look into a database before anything is changed in it.

use std::collections::{BTreeMap, BTreeSet};

use super::error::HoldError;
use super::mark::Mark;
use super::premises::Premises;
use super::relation::{Identity, Relation};
use super::{Hold, own_database};
use crate::remote::Remote;

/// What a database holds. No other run of Dyno can hold the database until this is dropped, or what becomes of it.
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
    /// Looks into the database that the server's address names. Nothing is changed there.
    ///
    /// # Errors
    /// Another run of Dyno has held it, or the server refuses.
    pub fn of(remote: &Remote) -> Result<Self, HoldError> {
        if !remote.dsn.names_database() {
            return Ok(Self(Found::Nowhere(Box::new(remote.clone()))));
        }
        Self::in_database(remote.clone())
    }

    /// Looks into the database of a server's connections.
    pub(super) fn in_database(remote: Remote) -> Result<Self, HoldError> {
        Ok(Self(Found::Database(Box::new(Surveyed::of(Premises::enter(remote)?)?))))
    }

    /// The database, if it is one that a run of Dyno made, did not mean to keep, and that holds nothing else.
    pub(super) fn into_leftover(self) -> Option<Premises> {
        let is_empty = self.foreign().is_empty();
        let Found::Database(surveyed) = self.0 else { return None };
        let is_left = surveyed.mark.as_ref().is_some_and(|mark| mark.is_of_database() && !mark.is_kept());
        (is_left && is_empty).then_some(surveyed.premises)
    }

    /// Names of what no run of Dyno has made: tables, views, sequences, and for PostgreSQL schemas, those of extensions left
    /// out.
    pub fn foreign(&self) -> Vec<String> {
        self.names(|surveyed, relation| !surveyed.has_made(relation))
    }

    /// Names of what earlier runs of Dyno have made.
    pub fn made(&self) -> Vec<String> {
        self.names(Surveyed::has_made)
    }

    /// Whether an earlier run of Dyno has made, and left or kept, something there.
    pub fn has_mark(&self) -> bool {
        matches!(&self.0, Found::Database(surveyed) if surveyed.mark.is_some())
    }

    fn names(&self, is_it: impl Fn(&Surveyed, &Relation) -> bool) -> Vec<String> {
        let Found::Database(surveyed) = &self.0 else { return Vec::new() };
        let relations = surveyed.relations.iter().filter(|relation| !Mark::is(relation));
        relations.filter(|relation| is_it(surveyed, relation)).map(ToString::to_string).collect()
    }

    /// An error if there is what no run of Dyno has made.
    ///
    /// # Errors
    /// There is.
    pub fn check(&self) -> Result<(), HoldError> {
        let names = self.foreign();
        match &self.0 {
            Found::Database(surveyed) if !names.is_empty() => {
                Err(HoldError::Foreign { database: surveyed.premises.name(), names })
            }
            _ => Ok(()),
        }
    }

    /// Claims the database, or one that this makes if the address names none, and leaves a mark there. Loads may drop what is
    /// there if `may_drop`, and nothing that comes later. `keeps` is whether what they make is to stay.
    ///
    /// # Errors
    /// There is what no run of Dyno has made, or the server refuses.
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
