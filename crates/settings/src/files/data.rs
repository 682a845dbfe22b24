//! The files of `settings/`, which are built into the binary.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../settings");

/// Names and texts of a folder's files, sorted by name.
///
/// # Panics
/// A file is not text. This crate's tests make sure that all files are text.
pub(crate) fn files(folder: &str) -> Vec<(&'static str, &'static str)> {
    let folder = FILES.get_dir(folder).unwrap_or_else(|| panic!("settings/{folder} is not built in"));
    let mut files: Vec<_> = folder
        .files()
        .filter_map(|file| Some((file.path().file_stem()?.to_str()?, file.contents_utf8()?)))
        .collect();
    files.sort_unstable();
    files
}

/// Joins the tables of all files of a folder into one, by name.
///
/// # Panics
/// A built-in file is invalid, or two files contain the same name. This crate's tests make sure that neither happens.
pub(crate) fn tables<T: DeserializeOwned>(folder: &str) -> BTreeMap<String, T> {
    let mut all = BTreeMap::new();
    for (name, text) in files(folder) {
        let tables: BTreeMap<String, T> =
            toml::from_str(text).unwrap_or_else(|error| panic!("settings/{folder}/{name}.toml: {error}"));
        for (key, table) in tables {
            assert!(!all.contains_key(&key), "settings/{folder}: {key} is there twice");
            all.insert(key, table);
        }
    }
    all
}

/// Reads each file of a folder as one value, by the file's name.
///
/// # Panics
/// A built-in file is invalid. This crate's tests rule this out.
pub(crate) fn values<T: DeserializeOwned>(folder: &str) -> BTreeMap<&'static str, T> {
    let value = |(name, text): (&'static str, &'static str)| {
        let value =
            toml::from_str(text).unwrap_or_else(|error| panic!("settings/{folder}/{name}.toml: {error}"));
        (name, value)
    };
    files(folder).into_iter().map(value).collect()
}
