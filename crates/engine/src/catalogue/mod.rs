//! The catalogue: which engines there are, and which one a name means.

mod own;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use thiserror::Error;

use crate::entry::Entry;
use crate::name::SystemName;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../engines");

/// Every engine that Dyno knows how to get.
#[derive(Clone, Debug)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// A name that is not in the catalogue, or a file that is no entry for it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CatalogueError {
    /// A file of the user's is not an entry.
    #[error(transparent)]
    Entry(Box<EntryError>),
    /// A file or folder of the user's cannot be read.
    #[error("cannot read the engines of {}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// No engine of that name.
    #[error("there is no engine '{engine}'{}; engines: {}", did_you_mean(near.as_ref()), known.join(", "))]
    UnknownEngine {
        /// The name that was asked for.
        engine: String,
        /// The nearest name, if one is near.
        near: Option<String>,
        /// Every engine there is.
        known: Vec<String>,
    },
    /// The engine is there, the version is not.
    #[error("there is no version '{version}' of {engine}; versions: {}", known.join(", "))]
    UnknownVersion {
        /// The engine.
        engine: String,
        /// The version that was asked for.
        version: String,
        /// Every version there is, newest first.
        known: Vec<String>,
    },
    /// The engine is there, the storage engine is not in it.
    #[error("{entry} has no storage engine '{storage_engine}'{}; {}", did_you_mean(near.as_ref()), choice(known))]
    UnknownStorageEngine {
        /// The entry, such as `mysql@5.6.24`.
        entry: String,
        /// The storage engine that was asked for.
        storage_engine: String,
        /// The nearest name, if one is near.
        near: Option<String>,
        /// What it has.
        known: Vec<String>,
    },
}

/// What is wrong in a file that should be an entry.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}:{line}:{column}: {message}", file.display())]
pub struct EntryError {
    /// The file.
    pub file: PathBuf,
    /// Where in it, from 1.
    pub line: usize,
    /// Where in the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

fn did_you_mean(near: Option<&String>) -> String {
    near.map(|name| format!(", did you mean '{name}'?")).unwrap_or_default()
}

fn choice(known: &[String]) -> String {
    if known.is_empty() { "it takes none".to_owned() } else { format!("it has: {}", known.join(", ")) }
}

impl Catalogue {
    /// The catalogue that is built in: `engines/*.toml`.
    ///
    /// # Panics
    /// When a built-in file is not an entry, which this crate's tests rule out.
    pub fn builtin() -> Self {
        let entries = BUILT_IN.files().map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            own::parse(text, file.path()).unwrap_or_else(|error| panic!("{error}"))
        });
        Self::of(entries.collect())
    }

    /// The built-in catalogue with the user's own entries: those of `$XDG_CONFIG_HOME/dyno/engines` (else
    /// `~/.config/dyno/engines`), and over them those of the folders that `$DYNO_ENGINES` lists, a colon between.
    ///
    /// # Errors
    /// When a file there is not an entry, or cannot be read.
    pub fn load() -> Result<Self, CatalogueError> {
        let mut catalogue = Self::builtin();
        for folder in own::folders() {
            catalogue.add_folder(&folder)?;
        }
        Ok(catalogue)
    }

    /// Adds each `*.toml` file of a folder; an entry of an engine and a version that is there already replaces it.
    ///
    /// # Errors
    /// When a file there is not an entry, or cannot be read.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), CatalogueError> {
        let added = own::read_folder(folder)?;
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|entry| !added.iter().any(|new| new.to_string() == entry.to_string()));
        entries.extend(added);
        *self = Self::of(entries);
        Ok(())
    }

    fn of(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| (entry.engine.clone(), Reverse(version_key(&entry.version))));
        Self { entries }
    }

    /// The newest entry of an engine that is not newer than a version, else its oldest: what holds for it most
    /// likely holds for a build of that version.
    pub(crate) fn nearest(&self, engine: &str, version: &str) -> Option<&Entry> {
        let key = version_key(version);
        let of_engine = || self.entries.iter().filter(|entry| entry.engine == engine);
        of_engine().find(|entry| version_key(&entry.version) <= key).or_else(|| of_engine().next_back())
    }

    /// Every entry, by engine, newest version first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry that a name means: of several versions that fit, the newest.
    ///
    /// # Errors
    /// When the engine, the version or the storage engine is not in the catalogue.
    pub fn find(&self, name: &SystemName) -> Result<&Entry, CatalogueError> {
        let of_engine: Vec<&Entry> =
            self.entries.iter().filter(|entry| entry.engine == name.engine).collect();
        if of_engine.is_empty() {
            return Err(self.unknown_engine(&name.engine));
        }
        let wanted = name.version.as_deref();
        let entry = of_engine
            .iter()
            .find(|entry| wanted.is_none_or(|version| is_within(&entry.version, version)))
            .ok_or_else(|| CatalogueError::UnknownVersion {
                engine: name.engine.clone(),
                version: wanted.unwrap_or_default().to_owned(),
                known: of_engine.iter().map(|entry| entry.version.clone()).collect(),
            })?;
        if let Some(storage_engine) = &name.storage_engine {
            entry.check_storage_engine(storage_engine)?;
        }
        Ok(entry)
    }

    fn unknown_engine(&self, engine: &str) -> CatalogueError {
        let mut known: Vec<String> = self.entries.iter().map(|entry| entry.engine.clone()).collect();
        known.dedup();
        CatalogueError::UnknownEngine { engine: engine.to_owned(), near: nearest(engine, &known), known }
    }
}

impl Entry {
    /// Says whether this entry has a storage engine.
    ///
    /// # Errors
    /// When it has not, with what it has.
    pub fn check_storage_engine(&self, storage_engine: &str) -> Result<(), CatalogueError> {
        if self.storage_engines.iter().any(|known| known == storage_engine) {
            return Ok(());
        }
        Err(CatalogueError::UnknownStorageEngine {
            entry: self.to_string(),
            storage_engine: storage_engine.to_owned(),
            near: nearest(storage_engine, &self.storage_engines),
            known: self.storage_engines.clone(),
        })
    }
}

/// `8.0` names `8.0.33` but not `8.01`.
pub(crate) fn is_within(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn version_key(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// The known name that a mistyped one most likely means.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    const ALIKE: f64 = 0.8;
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Result<String, CatalogueError> {
        Catalogue::builtin().find(&name.parse().unwrap()).map(ToString::to_string)
    }

    #[test]
    fn a_version_may_be_cut_short_and_the_newest_is_meant() {
        assert_eq!(find("mysql@5.6.24/innodb").unwrap(), "mysql@5.6.24");
        assert_eq!(find("mysql@5.6").unwrap(), "mysql@5.6.24");
        assert_eq!(find("mysql@8").unwrap(), "mysql@8.0.33");
        assert_eq!(find("mysql").unwrap(), "mysql@9.7.4");
        assert_eq!(find("mariadb@10.1").unwrap(), "mariadb@10.1.23");
        assert_eq!(find("postgres@9.6").unwrap(), "postgres@9.6.24");
        assert_eq!(find("mariadb@10.11/rocksdb").unwrap(), "mariadb@10.11");
    }

    #[test]
    fn the_nearest_entry_is_the_newest_that_is_not_newer() {
        let catalogue = Catalogue::builtin();
        let nearest = |engine, version| catalogue.nearest(engine, version).map(ToString::to_string);
        assert_eq!(nearest("mysql", "8.4.1").as_deref(), Some("mysql@8.0.33"));
        assert_eq!(nearest("mysql", "5.1.73").as_deref(), Some("mysql@5.5.34"));
        assert_eq!(nearest("postgres", "19").as_deref(), Some("postgres@18.4"));
        assert_eq!(nearest("oracle", "23"), None);
    }

    #[test]
    fn an_unknown_engine_gets_its_near_miss_and_what_there_is() {
        assert_eq!(
            find("maridb").unwrap_err().to_string(),
            "there is no engine 'maridb', did you mean 'mariadb'?; engines: mariadb, mysql, postgres, sqlite"
        );
        assert!(matches!(find("oracle"), Err(CatalogueError::UnknownEngine { near: None, .. })));
    }

    #[test]
    fn an_unknown_version_gets_the_versions_newest_first() {
        assert_eq!(
            find("mysql@5.7").unwrap_err().to_string(),
            "there is no version '5.7' of mysql; versions: 9.7.4, 8.0.33, 5.6.24, 5.6.14, 5.5.34"
        );
        assert!(matches!(find("mysql@5.6.2"), Err(CatalogueError::UnknownVersion { .. })));
    }

    #[test]
    fn a_storage_engine_must_be_one_that_the_entry_has() {
        let error = find("mariadb@10.11/rocks").unwrap_err().to_string();
        assert!(error.contains("did you mean 'rocksdb'?"), "{error}");
        let error = find("sqlite/innodb").unwrap_err().to_string();
        assert!(error.ends_with("it takes none"), "{error}");
    }

    #[test]
    fn every_entry_names_a_system() {
        for entry in Catalogue::builtin().entries() {
            let name: SystemName = entry.to_string().parse().unwrap();
            assert_eq!(name.to_string(), entry.to_string());
            assert_eq!(entry.sources.is_empty(), !entry.family.has_server(), "{entry}");
            for storage_engine in entry.storage_engine_options.keys() {
                entry.check_storage_engine(storage_engine).unwrap();
            }
        }
    }
}
