//! Why a name is not found, or a file is not an entry.

use std::path::PathBuf;

use thiserror::Error;

/// Why a name is not found, or a file is not an entry.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CatalogueError {
    /// A file of the user is not a valid entry.
    #[error(transparent)]
    Entry(Box<EntryError>),
    /// A file or folder of the user cannot be read.
    #[error("cannot read the engines of {}: {reason}", path.display())]
    Unreadable {
        /// The file or folder that cannot be read.
        path: PathBuf,
        reason: String,
    },
    /// There is no engine of that name.
    #[error("there is no engine '{engine}'{}; engines: {}", did_you_mean(near.as_ref()), known.join(", "))]
    UnknownEngine {
        /// The name that was asked for.
        engine: String,
        /// The known name that is most similar, if one is similar enough.
        near: Option<String>,
        /// The names of all engines.
        known: Vec<String>,
    },
    /// The engine has no such version.
    #[error(
        "there is no version '{version}' of {engine}; the nearest are {}; {} lists all, and \
         `dyno engine add ADDRESS` takes any archive",
        near.join(", "), list(engine, *is_published)
    )]
    UnknownVersion {
        engine: String,
        /// The version that was asked for.
        version: String,
        /// The nearest versions, newest first.
        near: Vec<String>,
        /// Whether the catalogue can also make entries of versions that only the vendor lists.
        is_published: bool,
    },
    /// No build of the version runs on this machine.
    #[error(
        "{entry} has no build for this machine ({here}); there is {}. A build of your own can be used as a folder \
         (`basedir`), an image of a container as oci:NAME:TAG",
        what_there_is(builds)
    )]
    NoBuild {
        /// The version, such as `mysql@8.0.22`.
        entry: String,
        /// The processor and the C library of this machine.
        here: String,
        /// For each existing build, the processor and the C library that it needs.
        builds: Vec<String>,
    },
    /// The engine has no such storage engine.
    #[error("{entry} has no storage engine '{storage_engine}'{}; {}", did_you_mean(near.as_ref()), choice(known))]
    UnknownStorageEngine {
        /// The entry, such as `mysql@5.6.24`.
        entry: String,
        /// The storage engine that was asked for.
        storage_engine: String,
        /// The known name that is most similar, if one is similar enough.
        near: Option<String>,
        known: Vec<String>,
    },
}

/// An error in an entry's file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}:{line}:{column}: {message}", file.display())]
pub struct EntryError {
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// Column number, from 1.
    pub column: usize,
    pub message: String,
}

fn did_you_mean(near: Option<&String>) -> String {
    near.map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

fn list(engine: &str, is_published: bool) -> String {
    if is_published {
        format!("`dyno engine list --upstream {engine}`")
    } else {
        "`dyno engine list`".to_owned()
    }
}

fn what_there_is(builds: &[String]) -> String {
    if builds.is_empty() { "none".to_owned() } else { builds.join("; ") }
}

fn choice(known: &[String]) -> String {
    if known.is_empty() { "it takes none".to_owned() } else { format!("it has: {}", known.join(", ")) }
}
