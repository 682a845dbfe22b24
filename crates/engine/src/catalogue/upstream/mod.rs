//! Upstream versions: versions that have no entry in the catalogue, but that a vendor publishes at addresses of a known
//! pattern.

pub(crate) mod template;

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use include_dir::{Dir, include_dir};

use self::template::Template;
use super::entry::Entry;
use super::name::SystemName;
use super::version::{is_within, series, version_key};
use super::{Catalogue, own};
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::error::CatalogueError;
use crate::machine::path_error::At as _;
use crate::machine::platform::Platform;
use crate::source::Progress;
use crate::source::error::FetchError;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../engines/upstream");

/// The built-in templates.
static BUILT_IN: LazyLock<Vec<Arc<Template>>> = LazyLock::new(|| {
    let template = |file: &include_dir::File<'_>| {
        let text = file.contents_utf8().unwrap_or_default();
        Arc::new(Template::parse(text, file.path()).unwrap_or_else(|error| panic!("{error}")))
    };
    FILES.files().map(template).collect()
});

/// A version that a vendor publishes.
#[derive(Clone, Debug)]
pub struct UpstreamVersion {
    /// The product, such as `mysql`.
    pub engine: String,
    /// The version, such as `8.0.22`.
    pub version: String,
    /// The version's series, such as `8.0`.
    pub series: String,
    /// The entry of the version's best build for this machine, or why no build runs here.
    pub entry: Result<Entry, CatalogueError>,
}

pub(super) fn builtin() -> Vec<Arc<Template>> {
    BUILT_IN.clone()
}

/// The templates in the `*.toml` files of a folder.
pub(super) fn read_folder(folder: &Path) -> Result<Vec<Arc<Template>>, CatalogueError> {
    let read = |file: &PathBuf| Ok(Arc::new(Template::parse(&own::read(file)?, file)?));
    own::files(folder)?.iter().map(read).collect()
}

impl Catalogue {
    /// Products with upstream versions.
    pub fn upstream_engines(&self) -> Vec<&str> {
        self.templates.iter().map(|template| template.engine.as_str()).collect()
    }

    /// Returns the known upstream versions of a product, newest first. Returns `None` if no template describes where
    /// the product's vendor publishes versions.
    pub fn upstream(&self, engine: &str) -> Option<Vec<UpstreamVersion>> {
        let (template, platform) = (self.template(engine)?, Platform::here());
        let version = |version: &String| UpstreamVersion {
            engine: template.engine.clone(),
            version: version.clone(),
            series: series(template.family, version),
            entry: template.entry(version, &platform),
        };
        Some(template.versions.iter().map(version).collect())
    }

    /// Returns all entries of the catalogue, and those upstream versions that are in the cache. Sorts them by engine.
    /// The newest version of each engine comes first.
    pub fn entries_here(&self, cache: &Cache) -> Vec<Entry> {
        let folders = fs::read_dir(cache.engines()).into_iter().flatten().flatten();
        let names = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<SystemName>().ok());
        let fetched = names.filter_map(|name| {
            let entry = self.find(&name).ok()?;
            let is_it = entry.to_string() == name.to_string();
            let is_new = is_it && !self.entries.iter().any(|known| known.to_string() == entry.to_string());
            (is_new && Installation::find(&entry, cache).is_some()).then_some(entry)
        });
        let all = self.entries.iter().cloned().chain(fetched).collect();
        Self::of(all, Vec::new()).entries
    }

    /// Fetches the vendor's list of versions of a product, and keeps it in the cache. Returns how many versions the
    /// list has, or `None` if there is no list.
    ///
    /// # Errors
    /// The list cannot be fetched, or the cache cannot be written.
    pub fn refresh_upstream(
        &mut self,
        engine: &str,
        cache: &Cache,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<usize>, FetchError> {
        let Some(template) = self.templates.iter_mut().find(|template| template.engine == engine) else {
            return Ok(None);
        };
        let Some(listing) = &template.listing else { return Ok(None) };
        let listed = listing.versions(&*template, cache, progress)?;
        let (count, file) = (listed.len(), remembered(engine, cache));
        fs::write(&file, listed.join("\n")).at("write", &file)?;
        Arc::make_mut(template).add_versions(listed);
        Ok(Some(count))
    }

    /// Adds the versions that earlier calls of [`refresh_upstream`](Self::refresh_upstream) stored in the cache.
    pub(super) fn recall_upstream(&mut self, cache: &Cache) {
        for template in &mut self.templates {
            if let Ok(text) = fs::read_to_string(remembered(&template.engine, cache)) {
                let versions: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
                let covered =
                    versions.into_iter().filter(|version| template.has(version)).collect::<Vec<_>>();
                Arc::make_mut(template).add_versions(covered);
            }
        }
    }

    pub(super) fn template(&self, engine: &str) -> Option<&Template> {
        self.templates.iter().find(|template| template.engine == engine).map(|template| &**template)
    }

    /// Returns the versions from `older` to `newer`, both included, oldest first. The result has all versions of the
    /// catalogue in this range. It also has the newest published version of each series that the catalogue lacks, or
    /// all published versions if `older` and `newer` belong to the same series. Empty if `older` is later than `newer`.
    pub fn between(&self, older: &Entry, newer: &Entry) -> Vec<Entry> {
        let range = version_key(&older.version)..=version_key(&newer.version);
        if range.is_empty() {
            return Vec::new();
        }
        let is_inside = |version: &str| range.contains(&version_key(version));
        let of_engine = |entry: &&Entry| entry.engine == older.engine && is_inside(&entry.version);
        let mut found: Vec<Entry> = self.entries.iter().filter(of_engine).cloned().collect();
        for end in [older, newer] {
            if !found.iter().any(|entry| entry.version == end.version) {
                found.push(end.clone());
            }
        }
        let is_one_series = series(older.family, &older.version) == series(newer.family, &newer.version);
        if let Some(template) = self.template(&older.engine) {
            let platform = Platform::here();
            for version in template.versions.iter().filter(|version| is_inside(version)) {
                let group = if is_one_series { version.clone() } else { series(template.family, version) };
                let has_one = found.iter().any(|entry| is_within(&entry.version, &group));
                let entry = template.entry(version, &platform).ok().filter(|_| !has_one);
                found.extend(entry.filter(|entry| entry.obstacle().is_none()));
            }
        }
        found.sort_by_key(|entry| version_key(&entry.version));
        found
    }

    /// All versions of a product, newest first.
    pub(super) fn versions_of(&self, engine: &str) -> Vec<String> {
        let of_catalogue = self.entries.iter().filter(|entry| entry.engine == engine);
        let mut versions: Vec<String> = of_catalogue.map(|entry| entry.version.clone()).collect();
        versions.extend(self.template(engine).into_iter().flat_map(|template| template.versions.clone()));
        versions.sort_by_key(|version| Reverse(version_key(version)));
        versions.dedup();
        versions
    }
}

fn remembered(engine: &str, cache: &Cache) -> PathBuf {
    cache.tool("upstream").join(format!("{engine}.txt"))
}

#[cfg(test)]
mod tests;
