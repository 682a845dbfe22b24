//! The catalogue of engines, and the search by name.

pub(crate) mod availability;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod family;
pub(crate) mod name;
pub(crate) mod own;
pub(crate) mod places;
pub(crate) mod upstream;
pub(crate) mod version;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

use include_dir::{Dir, include_dir};

pub use self::error::{CatalogueError, EntryError};
use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::catalogue::name::SystemName;
use crate::catalogue::upstream::template::Template;
use crate::catalogue::version::{around, is_within, version_key};
use crate::machine::platform::Platform;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../engines");

/// The engines that Dyno can fetch.
#[derive(Clone, Debug)]
pub struct Catalogue {
    entries: Vec<Entry>,
    /// Templates, from which entries are made for versions without an own entry.
    templates: Vec<Arc<Template>>,
}

impl Catalogue {
    /// The built-in catalogue: `engines/*.toml`.
    ///
    /// # Panics
    /// A built-in file is invalid, which this crate's tests rule out.
    pub fn builtin() -> Self {
        let entries = BUILT_IN.files().map(|file| {
            let text = file.contents_utf8().unwrap_or_default();
            own::parse(text, file.path()).unwrap_or_else(|error| panic!("{error}"))
        });
        Self::of(entries.collect(), upstream::builtin())
    }

    /// Returns the built-in catalogue with the user's own entries. The entries are in `$XDG_CONFIG_HOME/dyno/engines`
    /// (otherwise `~/.config/dyno/engines`), and in the folders that `$DYNO_ENGINES` lists with colons between them. A
    /// later folder overrides earlier folders. A folder `upstream` in one of these folders contains templates. The
    /// catalogue also has the versions that the cache keeps from the last fetch of each vendor's list.
    ///
    /// # Errors
    /// A file is not a valid entry, or cannot be read.
    pub fn load() -> Result<Self, CatalogueError> {
        let mut catalogue = Self::builtin();
        for folder in places::folders() {
            catalogue.add_folder(&folder)?;
        }
        catalogue.recall_upstream(&Cache::default_location());
        Ok(catalogue)
    }

    /// Adds each `*.toml` file of a folder. An added entry replaces the earlier entry of the same engine and version.
    /// An added template (in the folder `upstream`) replaces the earlier template of the same engine.
    ///
    /// # Errors
    /// A file is not a valid entry, or cannot be read.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), CatalogueError> {
        let added = own::read_folder(folder)?;
        let upstream = folder.join("upstream");
        let new_templates = if upstream.is_dir() { upstream::read_folder(&upstream)? } else { Vec::new() };
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|entry| !added.iter().any(|new| new.to_string() == entry.to_string()));
        entries.extend(added);
        let mut templates = std::mem::take(&mut self.templates);
        templates.retain(|template| !new_templates.iter().any(|new| new.engine == template.engine));
        templates.extend(new_templates);
        *self = Self::of(entries, templates);
        Ok(())
    }

    fn of(mut entries: Vec<Entry>, mut templates: Vec<Arc<Template>>) -> Self {
        entries.sort_by_key(|entry| (entry.engine.clone(), Reverse(version_key(&entry.version))));
        templates.sort_by(|a, b| a.engine.cmp(&b.engine));
        Self { entries, templates }
    }

    /// Returns the entry whose options most likely fit a build of a version: the engine's newest entry that is not
    /// newer than the version. If all entries are newer, returns the oldest.
    pub(crate) fn nearest(&self, engine: &str, version: &str) -> Option<&Entry> {
        let key = version_key(version);
        let of_engine = || self.entries.iter().filter(|entry| entry.engine == engine);
        of_engine().find(|entry| version_key(&entry.version) <= key).or_else(|| of_engine().next_back())
    }

    /// All entries, sorted by engine. The newest version of each engine comes first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Finds the entry of a name. If several versions match, takes the newest. If the catalogue has no such
    /// version, makes an entry of a version that the vendor publishes.
    ///
    /// # Errors
    /// The engine, the version or the storage engine is not known, or no build of the version runs on this machine.
    pub fn find(&self, name: &SystemName) -> Result<Entry, CatalogueError> {
        let wanted = name.version.as_deref();
        let is_it = |entry: &&Entry| {
            entry.engine == name.engine && wanted.is_none_or(|version| is_within(&entry.version, version))
        };
        let entry = match self.entries.iter().find(is_it) {
            Some(entry) => entry.clone(),
            None => self.find_upstream(&name.engine, wanted)?,
        };
        if let Some(storage_engine) = &name.storage_engine {
            entry.check_storage_engine(storage_engine)?;
        }
        Ok(entry)
    }

    fn find_upstream(&self, engine: &str, wanted: Option<&str>) -> Result<Entry, CatalogueError> {
        let versions = self.versions_of(engine);
        if versions.is_empty() {
            return Err(self.unknown_engine(engine));
        }
        let template = self.template(engine);
        let version = template.and_then(|template| template.version_of(wanted));
        if let (Some(template), Some(version)) = (template, version) {
            return template.entry(&version, &Platform::here());
        }
        let version = wanted.unwrap_or_default().to_owned();
        let near = around(&version, &versions);
        let is_published = template.is_some();
        Err(CatalogueError::UnknownVersion { engine: engine.to_owned(), version, near, is_published })
    }

    fn unknown_engine(&self, engine: &str) -> CatalogueError {
        let of_catalogue = self.entries.iter().map(|entry| entry.engine.clone());
        let published = self.templates.iter().map(|template| template.engine.clone());
        let mut known: Vec<String> = of_catalogue.chain(published).collect();
        known.sort();
        known.dedup();
        CatalogueError::UnknownEngine { engine: engine.to_owned(), near: nearest(engine, &known), known }
    }
}

impl Entry {
    /// Checks that this entry has a storage engine.
    ///
    /// # Errors
    /// The entry does not have that storage engine. The error lists the storage engines that the entry has.
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

/// Returns the known name that is most similar to a mistyped name. Returns `None` if no name is similar.
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
        Catalogue::builtin().find(&name.parse().unwrap()).map(|entry| entry.to_string())
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
            "there is no engine 'maridb', did you mean 'mariadb'?; engines: mariadb, mysql, percona, postgres, sqlite"
        );
        assert!(matches!(find("oracle"), Err(CatalogueError::UnknownEngine { near: None, .. })));
    }

    #[test]
    fn an_unknown_version_gets_the_nearest_and_what_to_do() {
        let error = find("mysql@5.9").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no version '5.9' of mysql; the nearest are 8.0.12, 8.0.11, 5.7.44, "),
            "{error}"
        );
        assert!(error.contains("`dyno engine list --upstream mysql` lists all"), "{error}");
        assert!(error.contains("`dyno engine add ADDRESS`"), "{error}");
        assert!(matches!(find("mysql@5.6.2"), Err(CatalogueError::UnknownVersion { .. })));
        let error = find("sqlite@9").unwrap_err().to_string();
        assert!(error.contains("`dyno engine list` lists all"), "{error}");
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
