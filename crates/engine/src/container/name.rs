//! Names of images, and what a name says about the server in the image.

use std::fmt;
use std::str::FromStr;

use super::error::ImageError;
use crate::catalogue::family::Family;

/// The name of an image, such as `docker.io/library/mysql:8.4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageName(String);

impl ImageName {
    /// Precedes the name in plans and on command lines.
    pub const PREFIX: &str = "oci:";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without its tag and digest: `docker.io/library/mysql`.
    pub(super) fn repository(&self) -> &str {
        let untold = self.0.split_once('@').map_or(self.0.as_str(), |(name, _)| name);
        // A colon before the last slash precedes a registry's port, and not a tag.
        let of_last = untold.rfind('/').map_or(0, |slash| slash + 1);
        untold[of_last..].find(':').map_or(untold, |colon| &untold[..of_last + colon])
    }

    /// Guesses the family of the server from a common word in the image's name, such as `postgres`. Returns `None` for
    /// other names.
    pub(super) fn family(&self) -> Option<Family> {
        let name = self.0.to_ascii_lowercase();
        let families = [
            ("mariadb", Family::Mariadb),
            ("postgres", Family::Postgres),
            ("mysql", Family::Mysql),
            ("percona-server", Family::Mysql),
        ];
        families.into_iter().find(|(word, _)| name.contains(word)).map(|(_, family)| family)
    }

    /// The version that the tag begins with: `8.4` for `mysql:8.4-oracle`. `None` for `mysql:latest`.
    pub(super) fn version(&self) -> Option<&str> {
        let untold = self.0.split_once('@').map_or(self.0.as_str(), |(name, _)| name);
        let last = untold.rsplit('/').next()?;
        let (_, tag) = last.split_once(':')?;
        let end = tag.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tag.len());
        let version = tag[..end].trim_end_matches('.');
        version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
    }
}

impl FromStr for ImageName {
    type Err = ImageError;

    fn from_str(text: &str) -> Result<Self, ImageError> {
        let may_be_in_it = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
        // The tool would mistake a name that begins with a dash for an option.
        if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(may_be_in_it) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ImageError::Name(text.to_owned()))
        }
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_family_and_version() {
        for (name, family, version) in [
            ("docker.io/library/mysql:8.4", Some(Family::Mysql), Some("8.4")),
            ("registry.example:5000/mariadb:10.11.6-ubi", Some(Family::Mariadb), Some("10.11.6")),
            ("postgres:16-alpine", Some(Family::Postgres), Some("16")),
            ("docker.io/percona/percona-distribution-postgresql:17", Some(Family::Postgres), Some("17")),
            ("docker.io/percona/percona-server:5.7", Some(Family::Mysql), Some("5.7")),
            ("localhost/mine:latest", None, None),
            ("registry.example:5000/mysql", Some(Family::Mysql), None),
            ("mysql:8.4@sha256:0123", Some(Family::Mysql), Some("8.4")),
        ] {
            let name: ImageName = name.parse().unwrap();
            assert_eq!((name.family(), name.version()), (family, version), "{name}");
        }
    }

    #[test]
    fn a_repository_is_a_name_without_tag_and_digest() {
        for (name, repository) in [
            ("docker.io/library/mysql:8.4", "docker.io/library/mysql"),
            ("registry.example:5000/mysql", "registry.example:5000/mysql"),
            ("registry.example:5000/mysql:8.4@sha256:01", "registry.example:5000/mysql"),
            ("mysql", "mysql"),
        ] {
            assert_eq!(name.parse::<ImageName>().unwrap().repository(), repository);
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "--privileged", "my sql", "mysql;true"] {
            let error = text.parse::<ImageName>().unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("'{text}' is not the name of an image")),
                "{error}"
            );
        }
    }
}
