//! Errors of results files.

use std::path::PathBuf;

use crate::file::schema::{SchemaDifference, VERSION};

/// An error of a results file. Each message names the file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist, and a reader does not create it.
    #[error("{}: no such results file; run a plan first, or name another file with --results", path.display())]
    NotFound { path: PathBuf },
    /// The file or its folder cannot be opened or written.
    #[error("{}: cannot be opened ({reason}); check the folder and its permissions, or name another file with --results", path.display())]
    Unusable { path: PathBuf, reason: String },
    /// The file is not a results file.
    #[error("{}: not a Dyno results file; name another file with --results", path.display())]
    Foreign { path: PathBuf },
    /// The file was written by another version of Dyno.
    #[error("{}: has results format {found}, this Dyno reads format {VERSION} only; use the Dyno that wrote it, or name another file with --results", path.display())]
    OtherVersion { path: PathBuf, found: i64 },
    /// The path, or the path of a file that SQLite keeps beside it, leads to something other than a file.
    #[error("{}: is {kind}, not a file; name another results file with --results", path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    /// The file's tables, indexes and views differ from those of the results format.
    #[error("{}: not as Dyno writes results files: {difference}; {}", path.display(), difference.remedy())]
    Altered { path: PathBuf, difference: SchemaDifference },
    #[error("{}: the disk is full; what was committed before is kept; free some space and run again", path.display())]
    DiskFull { path: PathBuf },
    /// Another process kept the file locked for too long.
    #[error("{}: locked by another program; close it there and try again", path.display())]
    Locked { path: PathBuf },
    /// The file's contents are damaged.
    #[error("{}: damaged ({reason}); restore it from a copy, or try sqlite3's .recover", path.display())]
    Damaged { path: PathBuf, reason: String },
    /// The file contains no run.
    #[error("{}: holds no run yet; start one with `dyno run`", path.display())]
    Empty { path: PathBuf },
    /// The file contains runs, but not the requested one.
    #[error("{}: has no run {run}; it holds {known}", path.display())]
    NoSuchRun {
        path: PathBuf,
        run: i64,
        /// The runs that the file has, as text for the message.
        known: String,
    },
    /// A run is in progress, and the request would disturb it.
    #[error("{}: run {run} is running; wait until it has ended, or stop it", path.display())]
    Running { path: PathBuf, run: i64 },
    /// The file's rounds cannot be added to a run that is spread over hosts. Either the file has no round of this
    /// run, or the plan, the steps or the versions of the systems differ between the file and the run.
    #[error("{}: does not match run {run} of {}: {difference}; use the same plan and the same Dyno on all hosts", path.display(), of.display())]
    NotOfRun { path: PathBuf, of: PathBuf, run: i64, difference: String },
    /// Any other failure of an SQL statement.
    #[error("{}: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}
