//! SQLite under test: a database file that the load process itself opens.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_engine::{Counters, DrainLimits, DrainProgress, DrainReport, Scratch, Snapshot, drain_sqlite};
use dyno_host::Account;
use dyno_load::{Address, Protocol, Target};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::running::RunningSystem;
use crate::run::error::SystemError;
use crate::run::record::Work;

/// Name of the folder that contains the database. Its parent folder contains the lock of the process that uses the
/// database.
const DATA: &str = "data";
const FILE: &str = "dyno.sqlite";

/// The pragmas whose values are recorded. Reading them changes nothing.
const TELLING: [&str; 19] = [
    "auto_vacuum",
    "automatic_index",
    "cache_size",
    "cache_spill",
    "checkpoint_fullfsync",
    "encoding",
    "foreign_keys",
    "fullfsync",
    "journal_mode",
    "journal_size_limit",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "page_size",
    "secure_delete",
    "synchronous",
    "temp_store",
    "threads",
    "wal_autocheckpoint",
];

/// A database in a separate folder.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    data: PathBuf,
    on_connect: Vec<String>,
    _scratch: Scratch,
}

impl SqliteFile {
    /// Creates a database in a new folder in `parent`, either from a snapshot or empty. Returns an error if a
    /// pragma is unknown.
    pub(crate) fn start(
        parent: &Path,
        settings: &BTreeMap<String, String>,
        data_from: Option<&Snapshot>,
    ) -> Result<Self, SystemError> {
        let known = texts(&Connection::open_in_memory()?, "PRAGMA pragma_list")?;
        if let Some(unknown) = settings.keys().find(|name| !known.contains(name)) {
            return Err(SystemError::UnknownPragma(unknown.clone()));
        }
        let scratch = Scratch::create(parent)
            .map_err(|source| SystemError::Folder { parent: parent.to_owned(), source })?;
        let data = scratch.path().join(DATA);
        match data_from {
            Some(snapshot) => drop(snapshot.restore(&data)?),
            None => create_empty(&data)
                .map_err(|source| SystemError::Folder { parent: parent.to_owned(), source })?,
        }
        // The page size must be set before the journal mode, which writes to the file.
        let (first, rest): (Vec<_>, Vec<_>) = settings.iter().partition(|(name, _)| *name == "page_size");
        let pragma = |(name, value): (&String, &String)| format!("PRAGMA {name} = {value}");
        let on_connect = first.into_iter().chain(rest).map(pragma).collect();
        Ok(Self { data, on_connect, _scratch: scratch })
    }

    fn file(&self) -> PathBuf {
        self.data.join(FILE)
    }

    /// Opens a connection with the same settings as the load's connections.
    fn connect(&self) -> Result<Connection, SystemError> {
        let connection = Connection::open(self.file())?;
        for statement in &self.on_connect {
            texts(&connection, statement)?;
        }
        Ok(connection)
    }
}

impl RunningSystem for SqliteFile {
    fn target(&self) -> Target {
        Target {
            on_connect: self.on_connect.clone(),
            ..Target::new(Protocol::Sqlite, vec![Address::File(self.file())])
        }
    }

    fn work(&self) -> Work {
        Work::InClient
    }

    fn data(&self) -> Option<&Path> {
        Some(&self.data)
    }

    fn version(&self) -> String {
        rusqlite::version().to_owned()
    }

    fn variables(&self) -> Result<Vec<(String, String)>, SystemError> {
        let connection = self.connect()?;
        let value =
            |name: &str| Ok((name.to_owned(), texts(&connection, &format!("PRAGMA {name}"))?.join(" ")));
        TELLING.into_iter().chain(["compile_options"]).map(value).collect()
    }

    fn is_alive(&self) -> bool {
        true
    }

    fn answers(&self, _patience: Duration) -> bool {
        true
    }

    fn log_tail(&self) -> String {
        String::new()
    }

    fn counters(&self) -> Option<Counters> {
        Some(Counters::of_sqlite(&self.file()))
    }

    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError> {
        Ok(drain_sqlite(&self.file(), limits, progress)?)
    }

    /// Reads the file into the page cache. More is not possible, because the load's connections have their own
    /// caches and open later.
    fn read_tables(&self) -> Result<(), SystemError> {
        drop(fs::read(self.file()));
        Ok(())
    }

    fn limit_io(&self, _limited: bool) -> Result<(), SystemError> {
        Ok(())
    }

    fn restart(&mut self) -> Result<(), SystemError> {
        Ok(())
    }

    fn shut_down_cleanly(&mut self) -> Result<(), SystemError> {
        Ok(())
    }
}

/// Creates a folder with an empty database that belongs to the account of the load process. SQLite makes the owner
/// of the database file the owner of the journal, too.
fn create_empty(data: &Path) -> io::Result<()> {
    fs::create_dir(data)?;
    let file = data.join(FILE);
    fs::write(&file, "")?;
    match Account::instead_of_root() {
        // The folder's owner is changed last, because the new owner could replace the file.
        Some(account) => account.own(&file).and_then(|()| account.own(data)),
        None => Ok(()),
    }
}

/// Returns the pragmas of a new, temporary database that has some settings.
///
/// # Errors
/// A setting is unknown to SQLite, or the folder cannot be created.
pub fn sqlite_variables(
    parent: &Path,
    settings: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, SystemError> {
    SqliteFile::start(parent, settings, None)?.variables()
}

/// Returns the first column of a statement's result as texts.
fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>, rusqlite::Error> {
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    connection.prepare(sql)?.query_map([], |row| row.get_ref(0).map(text))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(folder: &Path, name: &str, value: &str) -> Result<SqliteFile, SystemError> {
        SqliteFile::start(folder, &BTreeMap::from([(name.to_owned(), value.to_owned())]), None)
    }

    #[test]
    fn settings_take_effect_and_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let system = start(folder.path(), "journal_mode", "WAL").unwrap();
        let variables: BTreeMap<_, _> = system.variables().unwrap().into_iter().collect();
        assert_eq!(variables["journal_mode"], "wal");
        assert_eq!(variables["encoding"], "UTF-8");
        assert!(variables.values().all(|value| !value.is_empty()), "{variables:?}");
        assert_eq!(system.target().on_connect, ["PRAGMA journal_mode = WAL"]);
    }

    #[test]
    fn a_pragma_that_sqlite_would_pass_over_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = start(folder.path(), "jurnal_mode", "WAL").unwrap_err();
        assert!(matches!(error, SystemError::UnknownPragma(name) if name == "jurnal_mode"));
    }

    #[test]
    fn a_value_that_is_no_sql_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let system = start(folder.path(), "cache_size", "!").unwrap();
        assert!(matches!(system.variables(), Err(SystemError::Sqlite(_))));
    }
}
