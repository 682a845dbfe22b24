//! Packages of the Debian release that runs here, by `apt-get download`.
//!
//! A package release moves on, so the check is the repository's signed metadata rather than a pinned checksum:
//! apt downloads nothing whose hash is not in a list signed by the machine's keys. The newest patch version is
//! taken and recorded.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::tool::Tool;
use super::{Package, Workspace};
use crate::fetch::{FetchError, Phase};
use crate::folder;
use crate::path_error::At;

/// Packages to unpack over each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Apt {
    /// Names; the first gives the version.
    packages: Vec<String>,
    /// What the first package's version must begin with, since another release has another one.
    #[serde(default)]
    version: String,
}

impl Apt {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.downloads.join("apt");
        folder::create(&folder)?;
        self.download(workspace, &folder)?;
        workspace.enter(Phase::Unpacking);
        let mut packages = Vec::new();
        for name in &self.packages {
            let (archive, version) = archive_of(name, &folder)?;
            if packages.is_empty() && !upstream(&version).starts_with(&self.version) {
                return Err(FetchError::WrongVersion {
                    package: name.clone(),
                    wanted: self.version.clone(),
                    found: version,
                });
            }
            Tool::new("dpkg-deb").args([Path::new("-x"), &archive, &workspace.tree]).run(workspace)?;
            packages.push(Package { name: name.clone(), version });
        }
        Ok(packages)
    }

    /// Updates lists of our own, since a fresh machine's may be missing or stale, and they are not ours to touch.
    fn download(&self, workspace: &mut Workspace<'_>, folder: &Path) -> Result<(), FetchError> {
        let home = workspace.cache.tool("apt");
        let _turn = folder::lock(&home.with_extension("lock"))?;
        let apt_get = || {
            folder::create(&home.join("state/lists/partial"))?;
            folder::create(&home.join("cache/archives/partial"))?;
            Ok::<_, FetchError>(Tool::new("apt-get").args([
                "--quiet".to_owned(),
                format!("--option=Dir::State={}", home.join("state").display()),
                format!("--option=Dir::Cache={}", home.join("cache").display()),
                // Another apt may be at work on the machine's own state, which this one never writes.
                "--option=Debug::NoLocking=1".to_owned(),
                // The account that apt downloads as cannot write in a home folder.
                "--option=APT::Sandbox::User=".to_owned(),
                "--option=Acquire::Languages=none".to_owned(),
            ]))
        };
        workspace.enter(Phase::Listing);
        apt_get()?.args(["update"]).run(workspace)?;
        apt_get()?.args(["download"]).args(&self.packages).current_dir(folder).watching(folder).run(workspace)
    }
}

/// The archive of a package and its version: `NAME_VERSION_ARCHITECTURE.deb`, `:` written `%3a`.
fn archive_of(name: &str, folder: &Path) -> Result<(std::path::PathBuf, String), FetchError> {
    for item in fs::read_dir(folder).at("read", folder)? {
        let path = item.at("read", folder)?.path();
        let stem = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut parts = stem.split('_');
        if let (Some(package), Some(version)) = (parts.next(), parts.next())
            && package == name
        {
            return Ok((path.clone(), version.replace("%3a", ":")));
        }
    }
    Err(FetchError::NotDownloaded { package: name.to_owned() })
}

/// A Debian version without its epoch: `1:10.11.14-0+deb12u2` is `10.11.14-0+deb12u2`.
fn upstream(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_found_by_its_package_and_gives_its_version() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libmariadb3_9_amd64.deb", "mariadb-server-core_1%3a10.11.14-0+deb12u2_amd64.deb"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let (_, version) = archive_of("mariadb-server-core", folder.path()).unwrap();
        assert_eq!(version, "1:10.11.14-0+deb12u2");
        assert_eq!(upstream(&version), "10.11.14-0+deb12u2");
        assert!(matches!(archive_of("mariadb", folder.path()), Err(FetchError::NotDownloaded { .. })));
    }
}
