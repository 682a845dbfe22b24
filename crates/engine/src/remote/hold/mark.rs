//! The mark that Dyno leaves in a database: a table that lists what Dyno has made there.

use std::collections::BTreeMap;

use super::error::HoldError;
use super::premises::Premises;
use super::relation::{Identity, Kind, Relation};

/// The name of the table that Dyno creates to record what it has made in a database. This table is called the mark.
pub(super) const MARK: &str = "dyno_mark";
/// The value in the mark's first row. It is the version of the mark's format.
const FORMAT: &str = "1";

/// The row that contains the format.
const ABOUT_FORMAT: &str = "format";
/// The row whose presence says that Dyno has made the database itself.
const ABOUT_DATABASE: &str = "database";
/// The row whose presence says that the relations listed in the mark stay after the run.
const ABOUT_KEPT: &str = "kept";
/// The prefix of rows that name relations.
const MADE: &str = "made ";

/// The mark of a database: a table that lists what Dyno has made in the database.
#[derive(Debug)]
pub(super) struct Mark {
    /// The mark's name in SQL.
    table: String,
    /// The relations that Dyno has made. Maps the name that messages show to the identity that the relation got when it
    /// was made.
    made: BTreeMap<String, String>,
    is_of_database: bool,
    is_kept: bool,
    next_id: u32,
}

impl Mark {
    /// Whether a relation is Dyno's own table, the mark.
    pub(super) fn is(relation: &Relation) -> bool {
        relation.kind == Kind::Table && relation.name == MARK
    }

    /// Reads the mark of a database.
    ///
    /// # Errors
    /// The table is not a mark, or cannot be read.
    pub(super) fn read(premises: &mut Premises, relation: &Relation) -> Result<Self, HoldError> {
        let table = premises.sql_name(relation);
        let strange = HoldError::StrangeMark { database: premises.name() };
        let rows = match premises.query(&format!("SELECT id, about, identity FROM {table} ORDER BY id")) {
            Ok(result) => result.rows,
            Err(HoldError::Client { source: dyno_client::ClientError::Server(_), .. }) => {
                return Err(strange);
            }
            Err(error) => return Err(error),
        };
        let mut mark =
            Self { table, made: BTreeMap::new(), is_of_database: false, is_kept: false, next_id: 0 };
        let mut is_known = false;
        for row in &rows {
            let [Some(id), Some(about), Some(identity)] = &row[..] else { return Err(strange) };
            mark.next_id = id.parse::<u32>().map_or(0, |id| mark.next_id.max(id.saturating_add(1)));
            match about.as_str() {
                ABOUT_FORMAT => is_known = identity == FORMAT,
                ABOUT_DATABASE => mark.is_of_database = true,
                ABOUT_KEPT => mark.is_kept = true,
                about => {
                    let name = about.strip_prefix(MADE).map(ToOwned::to_owned);
                    mark.made.extend(name.map(|name| (name, identity.clone())));
                }
            }
        }
        if is_known { Ok(mark) } else { Err(strange) }
    }

    /// Makes a mark in a database that has none.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub(super) fn make(premises: &mut Premises, of_database: bool) -> Result<Self, HoldError> {
        let options = premises.mark_options();
        premises.query(&format!(
            "CREATE TABLE {MARK} (id INT NOT NULL PRIMARY KEY, about VARCHAR(200) NOT NULL, \
             identity VARCHAR(100) NOT NULL){options}"
        ))?;
        let mut mark = Self {
            table: MARK.to_owned(),
            made: BTreeMap::new(),
            is_of_database: of_database,
            is_kept: false,
            next_id: 0,
        };
        mark.insert(premises, ABOUT_FORMAT, FORMAT)?;
        if of_database {
            mark.insert(premises, ABOUT_DATABASE, "")?;
        }
        Ok(mark)
    }

    /// Whether Dyno has made the database itself.
    pub(super) fn is_of_database(&self) -> bool {
        self.is_of_database
    }

    /// Whether the listed relations stay after the run.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether Dyno has made a relation, and nobody has replaced the relation since.
    pub(super) fn knows(&self, relation: &Relation) -> bool {
        matches!(&relation.identity, Identity::Lasting(identity)
            if self.made.get(&relation.to_string()) == Some(identity))
    }

    /// Records a relation that Dyno has made.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub(super) fn note(&mut self, premises: &mut Premises, relation: &Relation) -> Result<(), HoldError> {
        let Identity::Lasting(identity) = &relation.identity else { return Ok(()) };
        let name = relation.to_string();
        // The new row is inserted before the old row is deleted, so that the relation always has a row. Without a row,
        // Dyno would not recognise the relation as its own.
        let id = self.next_id;
        let about = format!("{MADE}{name}");
        self.insert(premises, &about, identity)?;
        if self.made.insert(name, identity.clone()).is_some() {
            let (table, about) = (&self.table, quoted(&about));
            premises.query(&format!("DELETE FROM {table} WHERE about = {about} AND id < {id}"))?;
        }
        Ok(())
    }

    /// Records that the relations listed in the mark stay after the run.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub(super) fn keep(&mut self, premises: &mut Premises) -> Result<(), HoldError> {
        if !std::mem::replace(&mut self.is_kept, true) {
            self.insert(premises, ABOUT_KEPT, "")?;
        }
        Ok(())
    }

    /// Records that Dyno may drop the relations listed in the mark.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub(super) fn keep_no_more(&mut self, premises: &mut Premises) -> Result<(), HoldError> {
        if std::mem::replace(&mut self.is_kept, false) {
            let table = &self.table;
            premises.query(&format!("DELETE FROM {table} WHERE about = '{ABOUT_KEPT}'"))?;
        }
        Ok(())
    }

    /// Drops the mark.
    ///
    /// # Errors
    /// The server refuses a statement.
    pub(super) fn remove(self, premises: &mut Premises) -> Result<(), HoldError> {
        premises.query(&format!("DROP TABLE {}", self.table)).map(|_| ())
    }

    fn insert(&mut self, premises: &mut Premises, about: &str, identity: &str) -> Result<(), HoldError> {
        let (table, id) = (&self.table, self.next_id);
        premises.query(&format!(
            "INSERT INTO {table} (id, about, identity) VALUES ({id}, {}, {})",
            quoted(about),
            quoted(identity)
        ))?;
        self.next_id += 1;
        Ok(())
    }
}

/// Writes a text as an SQL string that all servers read alike, whatever their settings. Replaces quotes and
/// backslashes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace(['\'', '\\'], "?"))
}
