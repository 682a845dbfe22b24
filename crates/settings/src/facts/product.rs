//! Products: a family at a version with a storage engine.

use std::fmt;
use std::str::FromStr;

use dyno_engine::{Entry, Family};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Number of components of a version that are compared.
const PLACES: usize = 3;

/// A product: a family at a version with a storage engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub family: Family,
    pub version: Version,
    /// The storage engine, such as `rocksdb`; `None` for the default engine.
    pub storage_engine: Option<String>,
}

/// The components of a version. A short version, such as `8.0`, means the newest version of its series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    numbers: Vec<u32>,
}

/// Text that does not begin with a version's numbers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("'{text}' is not a version; write its numbers, such as 8.0.33")]
pub struct VersionError {
    pub text: String,
}

impl Product {
    /// The product of a catalogue entry with a storage engine.
    ///
    /// # Errors
    /// The entry's version does not begin with a number.
    pub fn of(entry: &Entry, storage_engine: Option<&str>) -> Result<Self, VersionError> {
        let storage_engine = storage_engine.map(ToOwned::to_owned);
        Ok(Self { family: entry.family, version: entry.version.parse()?, storage_engine })
    }

    /// The product of a server, from the variables that the server reports. `None` if the variables do not identify
    /// the product, as for SQLite.
    pub fn reported(variables: &[(String, String)]) -> Option<Self> {
        let of = |name: &str| {
            let found = variables.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        let (family, version) = match (of("server_version"), of("version")) {
            (Some(version), _) => (Family::Postgres, version),
            (None, Some(version)) if version.contains("MariaDB") => (Family::Mariadb, version),
            (None, Some(version)) => (Family::Mysql, version),
            (None, None) => return None,
        };
        let storage_engine = of("default_storage_engine").map(str::to_ascii_lowercase);
        Some(Self { family, version: version.parse().ok()?, storage_engine })
    }

    /// SQLite in the given version. The version is an argument, because SQLite's variables do not contain it.
    pub fn sqlite(version: Version) -> Self {
        Self { family: Family::Sqlite, version, storage_engine: None }
    }

    /// Whether the product's version is at least `bound`; false if `bound` is not a version.
    pub(crate) fn is_since(&self, bound: &str) -> bool {
        bound.parse().is_ok_and(|bound| self.version.is_since(&bound))
    }

    /// Whether the product is MySQL or MariaDB.
    pub(crate) fn is_mysqld(&self) -> bool {
        matches!(self.family, Family::Mysql | Family::Mariadb)
    }

    /// Whether the product is MySQL or MariaDB with tables in this storage engine. The default is InnoDB.
    pub(crate) fn keeps_tables_in(&self, storage_engine: &str) -> bool {
        self.is_mysqld() && self.storage_engine.as_deref().unwrap_or("innodb") == storage_engine
    }
}

/// Formats a product as `mysql 5.6.24`.
impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", family_name(self.family), self.version)
    }
}

/// A family's usual spelling.
pub(crate) fn family_name(family: Family) -> &'static str {
    match family {
        Family::Mysql => "mysql",
        Family::Mariadb => "mariadb",
        Family::Postgres => "postgres",
        Family::Sqlite => "sqlite",
    }
}

impl Version {
    /// Whether the version is at least `bound`. Missing numbers of `bound` count as 0, so `8.0` is the first
    /// version of its series. Missing numbers of the version count as the highest.
    pub(crate) fn is_since(&self, bound: &Self) -> bool {
        self.filled(u32::MAX) >= bound.filled(0)
    }

    fn filled(&self, missing: u32) -> [u32; PLACES] {
        std::array::from_fn(|place| self.numbers.get(place).copied().unwrap_or(missing))
    }
}

/// Parses the leading numbers of a version, such as `10.11.14` from `10.11.14-MariaDB-0+deb12u2`.
impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let numbers: Vec<u32> =
            text[..end].split('.').map_while(|part| part.parse().ok()).take(PLACES).collect();
        if numbers.is_empty() { Err(VersionError { text: text.to_owned() }) } else { Ok(Self { numbers }) }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.numbers.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_since(version: &str, bound: &str) -> bool {
        version.parse::<Version>().unwrap().is_since(&bound.parse().unwrap())
    }

    #[test]
    fn numbers_decide_and_not_letters() {
        assert!(is_since("10.11.14-MariaDB", "10.2.18"));
        assert!(is_since("26.7", "9.7.4"));
        assert!(!is_since("5.6.24", "5.6.25"));
        assert!(is_since("5.6.24", "5.6.24"));
    }

    #[test]
    fn a_version_cut_short_is_the_newest_of_its_kind_and_a_bound_the_oldest() {
        assert!(is_since("8.0", "8.0.30"));
        assert!(!is_since("8.0", "8.1"));
        assert!(is_since("8.0.11", "8.0"));
        assert!(is_since("18.4", "18"));
        assert!(!is_since("16", "18"));
    }

    #[test]
    fn a_server_s_variables_tell_its_product() {
        let reported = |variables: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let product = Product::reported(&variables.iter().map(owned).collect::<Vec<_>>())?;
            Some((product.to_string(), product.storage_engine))
        };
        let mariadb = [("version", "10.11.14-MariaDB-log"), ("default_storage_engine", "ROCKSDB")];
        assert_eq!(reported(&mariadb), Some(("mariadb 10.11.14".to_owned(), Some("rocksdb".to_owned()))));
        assert_eq!(reported(&[("version", "8.0.35-27")]), Some(("mysql 8.0.35".to_owned(), None)));
        assert_eq!(
            reported(&[("server_version", "18.4 (Debian)")]),
            Some(("postgres 18.4".to_owned(), None))
        );
        assert_eq!(reported(&[("journal_mode", "wal")]), None);
    }

    #[test]
    fn what_has_no_numbers_is_no_version() {
        assert!("newest".parse::<Version>().is_err());
        assert!("".parse::<Version>().is_err());
        assert_eq!("9.7.4".parse::<Version>().unwrap().to_string(), "9.7.4");
    }
}
