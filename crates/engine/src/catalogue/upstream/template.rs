//! Templates of upstream versions, one file for each product in `engines/upstream/`. A template makes an entry of any
//! version.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use super::super::entry::{Entry, Family};
use super::super::own;
use super::super::version::{is_within, series, version_key};
use crate::catalogue::error::CatalogueError;
use crate::machine::platform::Platform;
use crate::source::listing::Listing;

/// A product whose versions its vendor publishes by a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    /// The product, such as `mariadb`.
    pub(crate) engine: String,
    pub(crate) family: Family,
    /// Versions that are known, newest first. In the file, `8.0.11 to 8.0.20` stands for ten versions.
    #[serde(deserialize_with = "versions")]
    pub(crate) versions: Vec<String>,
    /// Where the vendor lists versions.
    #[serde(default)]
    pub(crate) listing: Option<Listing>,
    /// Keys of all entries that are made from this template.
    #[serde(default)]
    entry: Table,
    /// Keys that describe how to fetch the vendor's archive. Each build that has a `file` gets a source of kind
    /// `vendor` with these keys.
    #[serde(default)]
    vendor: Table,
    /// Keys of the libraries that each build with a `file` needs. Each table becomes a source of kind `apt`.
    #[serde(default, rename = "library")]
    libraries: Vec<Table>,
    /// Known checksums and sizes of archives, by the archive's name.
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
    /// The builds of the versions. The best build comes first.
    #[serde(rename = "build")]
    builds: Vec<Build>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Archive {
    digest: String,
    bytes: Option<u64>,
}

/// A build that exists for a range of versions.
#[derive(Clone, Debug, Deserialize)]
struct Build {
    /// The first version that has this build.
    from: String,
    /// The first version after `from` that does not have this build.
    until: Option<String>,
    /// The archive's name. If given, the build's sources are the template's `vendor` and `libraries`.
    file: Option<String>,
    /// Further keys of the entries of this build. In texts, `{version}` stands for the version, and `{series}` for its
    /// series.
    #[serde(flatten)]
    entry: Table,
}

impl Build {
    fn has(&self, version: &str) -> bool {
        let key = version_key(version);
        let is_before = |end: &String| key < version_key(end);
        key >= version_key(&self.from) && self.until.as_ref().is_none_or(is_before)
    }
}

impl Template {
    /// Reads a template. Makes an entry of each build, so that mistakes are found at once.
    pub(super) fn parse(text: &str, file: &Path) -> Result<Self, CatalogueError> {
        let template: Self = toml::from_str(text)
            .map_err(|error| own::at(file, text, error.span().unwrap_or_default(), error.message()))?;
        for build in &template.builds {
            let first = template.versions.iter().rev().find(|version| build.has(version));
            template.make(build, first.unwrap_or(&build.from)).map_err(|error| {
                let place = text.find(&format!("from = \"{}\"", build.from)).unwrap_or(0);
                own::at(file, text, place..place, error.message())
            })?;
        }
        Ok(template)
    }

    /// Adds versions that the vendor has listed after the template was written.
    pub(super) fn add_versions(&mut self, more: impl IntoIterator<Item = String>) {
        self.versions.extend(more);
        self.versions.sort_by_key(|version| Reverse(version_key(version)));
        self.versions.dedup();
    }

    /// Returns the newest known version that matches `wanted`. If none matches, but `wanted` is a full version that is
    /// newer than all known versions of its series, returns `wanted`, because the vendor may have published it in the
    /// meantime.
    pub(crate) fn version_of(&self, wanted: Option<&str>) -> Option<String> {
        let means = |version: &&String| wanted.is_none_or(|wanted| is_within(version, wanted));
        if let Some(known) = self.versions.iter().find(means) {
            return Some(known.clone());
        }
        let wanted = wanted?;
        let newest = self
            .versions
            .iter()
            .find(|version| series(self.family, version) == series(self.family, wanted))?;
        let parts = |version: &str| version.split('.').count();
        let is_number = wanted.split(['.', '-']).all(|part| part.parse::<u32>().is_ok());
        let is_newer = version_key(wanted) > version_key(newest);
        (is_number && is_newer && parts(wanted) == parts(newest)).then(|| wanted.to_owned())
    }

    /// Returns the entry of a version, made from the first (best) build that runs on the platform.
    pub(crate) fn entry(&self, version: &str, platform: &Platform) -> Result<Entry, CatalogueError> {
        let mut builds = Vec::new();
        for build in self.builds.iter().filter(|build| build.has(version)) {
            // An error is ignored, because mistakes in the template were found when it was read.
            let Ok(entry) = self.make(build, version) else { continue };
            if entry.obstacle_on(platform).is_none() {
                return Ok(entry);
            }
            builds.push(needs(&entry));
        }
        builds.dedup();
        Err(CatalogueError::NoBuild {
            entry: format!("{}@{version}", self.engine),
            here: platform.to_string(),
            builds,
        })
    }

    /// Returns the version of the product that belongs to a version of a Maven package. Returns `None` if no build uses
    /// that package.
    pub(crate) fn release_of(&self, package: &str) -> Option<String> {
        let is_of = |version: &str| {
            let entries = self.builds.iter().filter(|build| build.has(version));
            let mut entries = entries.filter_map(|build| self.make(build, version).ok());
            entries.any(|entry| entry.sources.iter().any(|source| source.maven_version() == Some(package)))
        };
        let shorter = package.rsplit_once('.').map(|(start, _)| start);
        shorter.into_iter().chain([package]).find(|version| is_of(version)).map(ToOwned::to_owned)
    }

    /// Whether there is a build of a version.
    pub(crate) fn has(&self, version: &str) -> bool {
        self.builds.iter().any(|build| build.has(version))
    }

    fn make(&self, build: &Build, version: &str) -> Result<Entry, toml::de::Error> {
        let mut table = self.entry.clone();
        table.extend(build.entry.clone());
        if let Some(file) = &build.file {
            let archive = tagged(&self.vendor, &[("kind", "vendor"), ("file", file)]);
            let libraries = self.libraries.iter().map(|library| tagged(library, &[("kind", "apt")]));
            let sources = [archive].into_iter().chain(libraries).map(Value::Table).collect();
            table.insert("source".to_owned(), Value::Array(sources));
        }
        let names =
            [("engine", self.engine.as_str()), ("version", version), ("family", self.family.engine())];
        let mut value = Value::Table(tagged(&table, &names));
        fill(&mut value, &[("{version}", version), ("{series}", &series(self.family, version))]);
        let sources = value.get_mut("source").and_then(Value::as_array_mut);
        for source in sources.into_iter().flatten().filter_map(Value::as_table_mut) {
            let archive = source.get("file").and_then(Value::as_str).and_then(|file| self.archives.get(file));
            let Some(archive) = archive else { continue };
            source.insert("digest".to_owned(), Value::from(archive.digest.as_str()));
            source.extend(archive.bytes.map(|bytes| ("bytes".to_owned(), Value::from(bytes as i64))));
        }
        value.try_into()
    }
}

/// Returns a copy of a table with these keys and texts added.
fn tagged(table: &Table, texts: &[(&str, &str)]) -> Table {
    let mut table = table.clone();
    table.extend(texts.iter().map(|(key, text)| ((*key).to_owned(), Value::from(*text))));
    table
}

/// Describes the processor and the C library that a build needs.
fn needs(entry: &Entry) -> String {
    let architecture = entry.architecture.as_deref().unwrap_or("any processor");
    let glibc = entry.glibc.as_ref().map(|glibc| format!(" with glibc {glibc} or later")).unwrap_or_default();
    format!("{architecture}{glibc}")
}

/// Replaces placeholders such as `{version}` by their values in every text.
fn fill(value: &mut Value, names: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            for (name, value) in names {
                *text = text.replace(name, value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, names)),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| fill(value, names)),
        _ => {}
    }
}

/// Reads versions and ranges of versions. The newest comes first.
fn versions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let mut versions = Vec::new();
    for text in texts {
        let range = range(&text).ok_or_else(|| {
            D::Error::custom(format!("'{text}' is neither a version nor a range such as 8.0.11 to 8.0.20"))
        })?;
        versions.extend(range);
    }
    versions.sort_by_key(|version| Reverse(version_key(version)));
    versions.dedup();
    Ok(versions)
}

fn range(text: &str) -> Option<Vec<String>> {
    let is_version = |text: &str| text.split(['.', '-']).all(|part| part.parse::<u32>().is_ok());
    let Some((first, last)) = text.split_once(" to ") else {
        return is_version(text).then(|| vec![text.to_owned()]);
    };
    let ((start, from), (end, to)) = (first.rsplit_once('.')?, last.rsplit_once('.')?);
    let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
    (start == end && is_version(start)).then(|| (from..=to).map(|patch| format!("{start}.{patch}")).collect())
}
