//! Source `apt`: packages of the running Debian release, by `apt-get download`.
//!
//! A release changes, so packages have no pinned checksum. The repository's signed metadata verifies them: apt
//! downloads only files whose hash is in a list that the machine's keys have signed. The newest patch version is taken
//! and recorded.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::apt_get::AptGet;
use super::deb;
use crate::machine::folder;
use crate::source::download::progress::Phase;
use crate::source::download::word::Word;
use crate::source::error::FetchError;
use crate::source::workspace::{Package, Workspace};

/// Packages to unpack into one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Apt {
    /// Package names. The first package gives the version.
    packages: Vec<Word>,
    /// The required prefix of the first package's version. A check is needed, because each Debian release has a
    /// different version of the package.
    #[serde(default)]
    version: String,
    /// The library that the packages provide, such as `libaio.so.1`. A machine that has it needs no package.
    #[serde(default)]
    library: Option<Word>,
}

/// The folders in which systems have their shared libraries.
const LIBRARIES: [&str; 6] =
    ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];

impl Apt {
    /// Makes a source of packages of any version.
    pub(in crate::source) fn of(packages: &[&'static str]) -> Self {
        let packages = packages.iter().map(|package| Word::known(package)).collect();
        Self { packages, version: String::new(), library: None }
    }

    /// Whether this machine has the library, so that no package is needed.
    pub(in crate::source) fn is_here(&self) -> bool {
        let has = |library: &Word| LIBRARIES.iter().any(|folder| Path::new(folder).join(&**library).exists());
        self.library.as_ref().is_some_and(has)
    }

    pub(in crate::source) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        if self.is_here() {
            return Ok(Vec::new());
        }
        let folder = workspace.downloads.join("apt");
        folder::create(&folder)?;
        self.download(workspace, &folder)?;
        workspace.enter(Phase::Unpacking);
        let main = self.packages.first().map_or("", |package| package);
        deb::unpack(&deb::archives(&folder)?, main, &self.version, workspace)
    }

    fn download(&self, workspace: &mut Workspace<'_>, folder: &Path) -> Result<(), FetchError> {
        let apt = AptGet::new(&workspace.cache.tool("apt"));
        let _turn = folder::lock(&apt.lock_file())?;
        let update = apt.update(workspace)?;
        let download = apt.get()?.args(["download", "--"]).args(&self.packages);
        let outcome = download.current_dir(folder).watching(folder).run(workspace);
        outcome.map(drop).map_err(|error| update.cause_of(error))
    }
}
