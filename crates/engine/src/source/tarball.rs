//! A user's archive: `.tar.gz`, `.tar.xz` or `.zip`. It is a file, or curl downloads it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::download::curl::{self, Url};
use super::download::integrity::Integrity;
use super::download::progress::Phase;
use super::error::FetchError;
use super::unpack::{self, Tree};
use crate::machine::folder;
use crate::source::workspace::{Package, Workspace};

/// An archive and its checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Fields")]
pub(crate) struct Tarball {
    #[serde(flatten)]
    place: Location,
    sha256: Sha256,
}

/// Where an archive is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Location {
    /// A path of a file, relative to the folder of the entry's file.
    Path(PathBuf),
    /// An address from which the archive is downloaded.
    Url(Url),
}

/// The keys of the source in an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    path: Option<PathBuf>,
    url: Option<Url>,
    sha256: Sha256,
}

/// A checksum as `sha256sum` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Sha256 {
    digits: String,
    integrity: Integrity,
}

impl TryFrom<String> for Sha256 {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        let integrity = Integrity::from_sha256_digits(&digits).ok_or_else(|| {
            format!("'{digits}' is not a checksum; write the 64 digits that sha256sum prints")
        })?;
        Ok(Self { digits, integrity })
    }
}

impl From<Sha256> for String {
    fn from(sha256: Sha256) -> Self {
        sha256.digits
    }
}

impl TryFrom<Fields> for Tarball {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let place = match (fields.path, fields.url) {
            (Some(path), None) => Location::Path(path),
            (None, Some(url)) => Location::Url(url),
            _ => return Err("a tarball has a path or a url, and not both"),
        };
        Ok(Self { place, sha256: fields.sha256 })
    }
}

impl Location {
    /// The archive's file name. Its extension shows the archive's kind.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::Url(url) => url.file_name(),
        }
    }
}

impl Tarball {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let name = self.place.name();
        match &self.place {
            Location::Path(path) => self.unpack(path, workspace)?,
            Location::Url(url) => {
                let folder = workspace.cache.tool("curl").join(&self.sha256.digits);
                let _turn = folder::lock(&folder.with_extension("lock"))?;
                let archive = folder.join(&name);
                // `dyno engine add` may have left the complete archive here.
                let is_whole =
                    archive.is_file() && self.sha256.integrity.found_in(&archive)? == self.sha256.integrity;
                if !is_whole {
                    curl::download(url, &archive, workspace)?;
                }
                let outcome = self.unpack(&archive, workspace);
                // The downloaded archive is removed after an error too. Otherwise a complete but wrong archive would
                // stay, and would never be downloaded again.
                folder::remove(&folder)?;
                outcome?;
            }
        }
        Ok(vec![Package { name, version: String::new() }])
    }

    /// The archive's checksum, as `sha256sum` prints it.
    pub(super) fn digits(&self) -> &str {
        &self.sha256.digits
    }

    /// Whether the archive must be downloaded.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.place, Location::Url(_))
    }

    pub(super) fn obstacle(&self) -> Option<String> {
        match &self.place {
            Location::Path(path) => (!path.is_file()).then(|| format!("there is no file {}", path.display())),
            Location::Url(_) => None,
        }
    }

    pub(super) fn start_at(&mut self, folder: &Path) {
        if let Location::Path(path) = &mut self.place {
            *path = folder.join(&*path);
        }
    }

    fn unpack(&self, archive: &Path, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
        workspace.enter(Phase::Unpacking);
        self.sha256.integrity.check(&self.place.name(), archive)?;
        unpack_whole(archive, workspace)
    }
}

/// Unpacks an archive into the workspace. If all files are in one folder, unpacks only the content of that folder.
pub(super) fn unpack_whole(archive: &Path, workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
    let unpacked = workspace.downloads.join("tarball");
    folder::create(&unpacked)?;
    unpack::by_name(archive, &unpacked)?;
    let (unpacked, tree) = (Tree::create(&unpacked)?, Tree::create(&workspace.tree)?);
    unpacked.move_up(&tree).map_err(|error| FetchError::unpack(archive, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Tarball, toml::de::Error> {
        toml::from_str(&text.replace("DIGITS", &"ab".repeat(32)))
    }

    #[test]
    fn an_archive_is_a_path_or_a_url_with_a_checksum() {
        let tarball = parse("url = 'http://x.test/a-1.tar.gz?raw=1'\nsha256 = 'DIGITS'").unwrap();
        assert_eq!(tarball.place.name(), "a-1.tar.gz");
        let mut tarball = parse("path = 'a.zip'\nsha256 = 'DIGITS'").unwrap();
        tarball.start_at(Path::new("/own"));
        assert_eq!(tarball.place, Location::Path(PathBuf::from("/own/a.zip")));
        assert!(tarball.obstacle().unwrap().contains("/own/a.zip"));
        for (url, protocols) in [("HTTPS://x.test/a.zip", "=https"), ("http://x.test/a.zip", "=http,https")] {
            let tarball = parse(&format!("url = '{url}'\nsha256 = 'DIGITS'")).unwrap();
            assert!(matches!(tarball.place, Location::Url(url) if url.protocols() == protocols));
        }
        for url in
            ["-K/tmp/x", "--config=x", "file:///x/a.zip", "gopher://x/", "ftp://x/", "x.test", "https://x y"]
        {
            let error = parse(&format!("url = '{url}'\nsha256 = 'DIGITS'")).unwrap_err().to_string();
            assert!(error.contains(&format!("'{url}' is not an address")), "{error}");
        }
        for wrong in ["path = 'a.zip'", "sha256 = 'DIGITS'", "path = 'a'\nurl = 'b'\nsha256 = 'DIGITS'"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("path = 'a.zip'\nsha256 = 'DIGITSx'").unwrap_err().to_string().contains("sha256sum"));
    }

    #[test]
    fn what_an_entry_says_is_what_a_manifest_keeps() {
        let tarball = parse("path = '/a.zip'\nsha256 = 'DIGITS'").unwrap();
        let kept = serde_json::to_string(&tarball).unwrap();
        assert_eq!(serde_json::from_str::<Tarball>(&kept).unwrap(), tarball);
    }
}
