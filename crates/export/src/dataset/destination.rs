//! Names of places for data sets, as people write them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::place::{Folder, Place};
use crate::error::ExportError;

/// Where a data set is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Folder(PathBuf),
    /// A bucket of S3 or of a server that speaks its protocol.
    Bucket {
        name: String,
        /// What the names of its objects begin with, without a slash at either end; may be empty.
        prefix: String,
    },
}

impl From<OsString> for Destination {
    /// `s3://BUCKET/PREFIX` is a bucket, everything else a folder.
    fn from(text: OsString) -> Self {
        match text.to_str().and_then(|text| text.strip_prefix("s3://")) {
            None => Self::Folder(text.into()),
            Some(rest) => {
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                Self::Bucket { name: name.to_owned(), prefix: prefix.trim_matches('/').to_owned() }
            }
        }
    }
}

impl From<&Path> for Destination {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.to_owned())
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Bucket { name, prefix } => write!(f, "s3://{name}/{prefix}"),
        }
    }
}

impl Destination {
    pub(super) fn open(&self) -> Result<Box<dyn Place>, ExportError> {
        match self {
            Self::Folder(path) => Ok(Box::new(Folder::create(path)?)),
            Self::Bucket { name, .. } if name.is_empty() => Err(ExportError::NoBucket),
            Self::Bucket { name, prefix } => bucket(name, prefix),
        }
    }
}

#[cfg(feature = "s3")]
fn bucket(name: &str, prefix: &str) -> Result<Box<dyn Place>, ExportError> {
    Ok(Box::new(super::bucket::Bucket::open(name, prefix)?))
}

#[cfg(not(feature = "s3"))]
fn bucket(name: &str, _prefix: &str) -> Result<Box<dyn Place>, ExportError> {
    Err(ExportError::WithoutS3 { bucket: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_an_s3_url_is_a_bucket() {
        let of = |text: &str| Destination::from(OsString::from(text));
        let bucket = |name: &str, prefix: &str| Destination::Bucket {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
        };
        assert_eq!(of("s3://results"), bucket("results", ""));
        assert_eq!(of("s3://results/a/b/"), bucket("results", "a/b"));
        assert_eq!(of("s3/results"), Destination::Folder("s3/results".into()));
        assert_eq!(of("s3://results/a/").to_string(), "s3://results/a");
        assert!(matches!(of("s3://").open(), Err(ExportError::NoBucket)));
    }
}
