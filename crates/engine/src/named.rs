//! Names of engines on command lines and in plans.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

use crate::catalogue::name::{NameError, SystemName};
use crate::container::{ImageError, ImageName};

/// The name of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineName {
    /// An entry of the catalogue: `mariadb@10.11/rocksdb`.
    Catalogue(SystemName),
    /// The folder of a build. Its path begins with `/`, `.` or `~/`.
    Basedir(PathBuf),
    /// A container image: `oci:docker.io/library/mysql:8.4`.
    Image(ImageName),
}

/// Why a text is not the name of an engine.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineNameError {
    /// The text looks like an entry of the catalogue, but is not a valid name of an entry.
    #[error(transparent)]
    Catalogue(#[from] NameError),
    /// The text begins with `oci:`, but no valid image name follows.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The text is an address. The message does not repeat the address, because a password may be in it.
    #[error(
        "this is the address of a server that runs already, where an engine is needed that Dyno starts: ENGINE[@VERSION], a folder \
         with a build (./DIR), or an image (oci:NAME:TAG)"
    )]
    Address,
    /// The text begins with `~/`, but the home folder is not known.
    #[error("'{0}' is in a home folder, and $HOME is not set; write the whole path")]
    NoHome(String),
}

impl EngineName {
    fn parse(text: &str, home: Option<PathBuf>) -> Result<Self, EngineNameError> {
        if let Some(image) = text.strip_prefix(ImageName::PREFIX) {
            return Ok(Self::Image(image.parse()?));
        }
        if text.contains("://") {
            return Err(EngineNameError::Address);
        }
        // A shell does not expand `~` inside quotes, so it is expanded here.
        if let Some(below) = text.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/'))
        {
            let home = home.ok_or_else(|| EngineNameError::NoHome(text.to_owned()))?;
            return Ok(Self::Basedir(home.join(below.trim_start_matches('/'))));
        }
        if text.starts_with(['.', '/']) {
            return Ok(Self::Basedir(text.into()));
        }
        Ok(Self::Catalogue(text.parse()?))
    }

    /// Returns the storage engine in the name. Returns `None` for a folder or an image.
    pub fn storage_engine(&self) -> Option<&str> {
        match self {
            Self::Catalogue(name) => name.storage_engine.as_deref(),
            Self::Basedir(_) | Self::Image(_) => None,
        }
    }

    /// Returns a text that identifies a folder or an image: `oci:NAME:TAG`, or the folder's path without symbolic
    /// links. Returns `None` for an engine of the catalogue.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Catalogue(_) => None,
            Self::Basedir(path) => {
                Some(path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string())
            }
            Self::Image(_) => Some(self.to_string()),
        }
    }
}

impl FromStr for EngineName {
    type Err = EngineNameError;

    fn from_str(text: &str) -> Result<Self, EngineNameError> {
        Self::parse(text, env::home_dir())
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalogue(name) => f.pad(&name.to_string()),
            Self::Basedir(path) => f.pad(&path.display().to_string()),
            Self::Image(name) => f.pad(&format!("{}{name}", ImageName::PREFIX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EngineName, EngineNameError> {
        EngineName::parse(text, Some("/home/me".into()))
    }

    #[test]
    fn an_engine_has_a_name_of_each_kind() {
        let name = |text: &str| parse(text).unwrap();
        assert_eq!(
            name("mariadb@10.11/rocksdb"),
            EngineName::Catalogue("mariadb@10.11/rocksdb".parse().unwrap())
        );
        assert_eq!(name("mariadb@10.11/rocksdb").storage_engine(), Some("rocksdb"));
        for (text, path) in [
            ("./build", "./build"),
            ("../build", "../build"),
            (".", "."),
            ("/opt/my build", "/opt/my build"),
            ("~/builds/main", "/home/me/builds/main"),
            ("~", "/home/me"),
        ] {
            assert_eq!(name(text), EngineName::Basedir(path.into()), "{text}");
        }
        let image = name("oci:docker.io/library/mysql:8.4");
        assert!(matches!(&image, EngineName::Image(name) if name.as_str() == "docker.io/library/mysql:8.4"));
        assert_eq!(image.to_string(), "oci:docker.io/library/mysql:8.4");
        assert_eq!(image.origin(), Some(image.to_string()));
    }

    #[test]
    fn what_names_no_engine_is_told_with_what_would() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("").contains("has no engine"), "{}", error(""));
        assert!(error("oci:").contains("is not the name of an image"), "{}", error("oci:"));
        assert!(error("~other/build").contains("holds '~'"), "{}", error("~other/build"));
        let address = error("mysql://root:s3cret@db/x");
        assert!(address.contains("a server that runs already") && !address.contains("s3cret"), "{address}");
        let homeless = EngineName::parse("~/build", None).unwrap_err().to_string();
        assert_eq!(homeless, "'~/build' is in a home folder, and $HOME is not set; write the whole path");
    }
}
