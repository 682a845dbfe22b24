//! How a system is written: `ENGINE[@VERSION][/STORAGE-ENGINE]`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A system's name, such as `mariadb@10.11/rocksdb`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SystemName {
    /// The product, such as `mariadb`.
    pub engine: String,
    /// The version, or its beginning: `8.0.33`, `10.11`. `None` for the newest.
    pub version: Option<String>,
    /// The storage engine, such as `rocksdb`. `None` for the engine's default.
    pub storage_engine: Option<String>,
}

/// Why a text is not the name of a system.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// A part of the name is empty.
    #[error("'{name}' has no {part}; write ENGINE[@VERSION][/STORAGE-ENGINE], such as mariadb@10.11/rocksdb")]
    Empty { name: String, part: &'static str },
    /// The name contains a character that names cannot contain.
    #[error("'{name}' holds {character:?}; names are letters, digits, '.', '-' and '_'")]
    Character {
        name: String,
        /// The first character that names cannot contain.
        character: char,
    },
}

impl FromStr for SystemName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let (rest, storage_engine) = split_off(name, '/');
        let (engine, version) = split_off(rest, '@');
        Ok(Self {
            engine: part(name, "engine", engine)?,
            version: version.map(|text| part(name, "version", text)).transpose()?,
            storage_engine: storage_engine.map(|text| part(name, "storage engine", text)).transpose()?,
        })
    }
}

fn split_off(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Reads a part of a name. Parts become names of folders in the cache, so special characters are refused.
fn part(name: &str, part: &'static str, text: &str) -> Result<String, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { name: name.to_owned(), part });
    }
    match text.chars().find(|c| !c.is_ascii_alphanumeric() && !".-_".contains(*c)) {
        Some(character) => Err(NameError::Character { name: name.to_owned(), character }),
        None => Ok(text.to_ascii_lowercase()),
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.engine)?;
        if let Some(version) = &self.version {
            write!(f, "@{version}")?;
        }
        if let Some(storage_engine) = &self.storage_engine {
            write!(f, "/{storage_engine}")?;
        }
        Ok(())
    }
}

impl TryFrom<String> for SystemName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        name.parse()
    }
}

impl From<SystemName> for String {
    fn from(name: SystemName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read_and_written_back() {
        for text in ["sqlite", "mysql@5.6.24", "mysql/innodb", "mariadb@10.11/rocksdb"] {
            assert_eq!(text.parse::<SystemName>().unwrap().to_string(), text);
        }
        let name: SystemName = "MariaDB@10.11/RocksDB".parse().unwrap();
        assert_eq!(name.engine, "mariadb");
        assert_eq!(name.version.as_deref(), Some("10.11"));
        assert_eq!(name.storage_engine.as_deref(), Some("rocksdb"));
    }

    #[test]
    fn an_empty_part_is_named() {
        for (text, missing) in
            [("", "engine"), ("@5", "engine"), ("mysql@", "version"), ("mysql/", "storage engine")]
        {
            let error = text.parse::<SystemName>().unwrap_err();
            assert!(matches!(error, NameError::Empty { part, .. } if part == missing), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_is_no_name() {
        let error = "mysql@../../etc".parse::<SystemName>().unwrap_err();
        assert!(matches!(error, NameError::Character { character: '/', .. }), "{error}");
    }
}
