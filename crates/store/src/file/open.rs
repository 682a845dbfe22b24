//! Opening a results file, for writing or for reading only.

mod guard;
mod leftovers;
mod place;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Row, Transaction};

use crate::error::StoreError;
use crate::file::budget::Budget;
use crate::file::open::leftovers::Leftovers;
pub(crate) use crate::file::open::place::beside;
use crate::file::schema::{self, Kind};

/// Longest time for which a statement waits for another process's transaction. It is long enough, because the commit
/// of a trial takes only milliseconds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause between two attempts at an operation for which SQLite itself does not wait.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// An open results file.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
    pub(crate) budget: Arc<Budget>,
    /// Fields are dropped in the order of their declaration. This field is declared after the connection, because the
    /// files can be removed only after the connection is closed.
    leftovers: Leftovers,
}

impl Store {
    /// Opens a results file for writing. Creates it if it does not exist.
    ///
    /// # Errors
    /// The path cannot be written, or the file is not a results file of this version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut store = Self::connect(path, path, flags)?;
        let kind = match store.kind()? {
            Kind::Blank => {
                // The journal mode is stored in the file. It cannot be changed within a transaction.
                store.use_log()?;
                schema::create(&mut store.connection).map_err(|error| store.error(error))?
            }
            kind => kind,
        };
        store.check(kind)?;
        store.check_writable()?;
        // The limit on steps follows from the size of the file. A writer has no such limit, because its statements
        // may add much data to a small file.
        Budget::lift(&mut store.connection).map_err(|error| store.error(error))?;
        // A merge that was killed may have left the file in rollback journal mode.
        store.use_log()?;
        // There is one commit per trial. Each contains minutes of measurement, so it is worth an fsync.
        store.pragma("synchronous", "FULL")?;
        store.pragma("foreign_keys", "ON")?;
        Ok(store)
    }

    /// Opens a results file for reading, even while another process writes it.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a results file of this version.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::NotFound { path: path.to_owned() });
        }
        let mut store = Self::connect(path, path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let kind = match store.kind() {
            // A merge that was killed left an unfinished transaction. To undo the transaction, the file is opened
            // for writing once.
            Err(StoreError::Unusable { .. }) if beside(path, "-journal").exists() => {
                drop(Self::open(path)?);
                store = Self::connect(path, path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                store.kind()?
            }
            // A reader of a WAL file needs a `-shm` file beside it. In a read-only folder there is none, unless a
            // writer is active. Without a writer the file cannot change, so SQLite may treat it as immutable.
            Err(StoreError::Unusable { .. }) if !beside(path, "-wal").exists() => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                store = Self::connect(path, &immutable(path), flags)?;
                store.kind()?
            }
            kind => kind?,
        };
        store.check(kind)?;
        guard::forbid_attaching(&store.connection).map_err(|error| store.error(error))?;
        store.leftovers.let_go();
        Ok(store)
    }

    /// Checks that a run could use the path as its results file. It can if the path leads to a results file of this
    /// version, or to no file yet.
    ///
    /// # Errors
    /// The path leads to anything else, or the file cannot be read.
    pub fn check_usable(path: &Path) -> Result<(), StoreError> {
        match Self::open_read_only(path) {
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Empty { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a snapshot of the file, so that several reads see the same state. Dropping the value ends the snapshot.
    ///
    /// # Errors
    /// The file cannot be read, or there is already a snapshot.
    pub fn snapshot(&self) -> Result<Transaction<'_>, StoreError> {
        self.connection.unchecked_transaction().map_err(|error| self.error(error))
    }

    fn connect(path: &Path, name: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        place::check(path)?;
        let leftovers = Leftovers::of(path);
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(name, flags).map_err(|error| classify(path, error))?;
        let budget = Budget::new(path.to_owned());
        let mut store = Self { connection, path: path.to_owned(), budget, leftovers };
        store.connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| store.error(error))?;
        guard::guard(&store.connection).map_err(|error| store.error(error))?;
        store.budget.limit_steps(&mut store.connection).map_err(|error| store.error(error))?;
        Ok(store)
    }

    /// Switches the file to WAL mode. While another process uses the file, SQLite refuses to change the journal mode.
    /// SQLite does not wait for the other process, because two processes that change the mode at the same time might
    /// wait for each other. So this function tries again until [`BUSY_TIMEOUT`] has passed.
    fn use_log(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        loop {
            match self.set_journal("WAL") {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && began.elapsed() < BUSY_TIMEOUT =>
                {
                    thread::sleep(BUSY_PAUSE);
                }
                done => return done.map_err(|error| self.error(error)),
            }
        }
    }

    fn kind(&self) -> Result<Kind, StoreError> {
        schema::kind(&self.connection).map_err(|error| self.error(error))
    }

    fn check(&self, kind: Kind) -> Result<(), StoreError> {
        let path = self.path.clone();
        match kind {
            Kind::Current => match schema::difference(&self.connection).map_err(|error| self.error(error))? {
                None => Ok(()),
                Some(difference) => Err(StoreError::Altered { path, difference }),
            },
            Kind::Other(found) => Err(StoreError::OtherVersion { path, found }),
            // Only a reader can find a blank file here, because a writer has already created the schema. To the
            // reader, the file is a file without a run.
            Kind::Blank => Err(StoreError::Empty { path }),
            Kind::Foreign => Err(StoreError::Foreign { path }),
        }
    }

    /// Checks that the file can be written. SQLite opens a read-only file without an error and fails at the first
    /// write. A run must fail earlier, before it measures.
    fn check_writable(&self) -> Result<(), StoreError> {
        if self.connection.is_readonly(rusqlite::MAIN_DB).map_err(|error| self.error(error))? {
            return Err(StoreError::Unusable {
                path: self.path.clone(),
                reason: "it is read-only".to_owned(),
            });
        }
        Ok(())
    }

    fn pragma(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.connection.pragma_update(None, name, value).map_err(|error| self.error(error))
    }

    /// Returns the connection for one query, which must not write. The cost of the query is counted from this call
    /// on.
    pub fn connection(&self) -> &Connection {
        self.budget.renew();
        &self.connection
    }

    /// Counts a row of the query for which [`Self::connection`] was called.
    ///
    /// # Errors
    /// The query has returned more bytes than a sound file can contain.
    pub fn take(&self, row: &Row<'_>) -> Result<(), StoreError> {
        self.budget.take(row).map_err(|error| self.error(error))
    }

    /// Converts an error of SQLite to an error of this file.
    pub fn error(&self, error: rusqlite::Error) -> StoreError {
        classify(&self.path, error)
    }
}

fn classify(path: &Path, error: Error) -> StoreError {
    let path = path.to_owned();
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::TooBig) => StoreError::Damaged { path, reason },
        Some(ErrorCode::OperationInterrupted) => {
            StoreError::Damaged { path, reason: "a table has more rows than the file can hold".to_owned() }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::Unusable { path, reason }
        }
        None if is_of_strange_value(&error) => StoreError::Damaged { path, reason },
        _ => StoreError::Sqlite { path, source: error },
    }
}

/// Whether an error is about a value that Dyno never writes into the value's column.
fn is_of_strange_value(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::Utf8Error(..)
    )
}

/// SQLite's URI for a file that does not change.
fn immutable(path: &Path) -> PathBuf {
    let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    PathBuf::from(format!("file:{name}?immutable=1"))
}

#[cfg(test)]
mod tests;
