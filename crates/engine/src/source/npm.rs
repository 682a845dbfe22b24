//! A package of the npm registry, by `npm pack`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::integrity::Integrity;
use super::tool::Tool;
use super::{Package, Workspace, unpack};
use crate::fetch::{FetchError, Phase};
use crate::folder;
use crate::path_error::At;

/// One package at one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Npm {
    package: String,
    version: String,
    integrity: Integrity,
}

impl Npm {
    pub(super) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.downloads.join("npm");
        let packed = folder.join("packed");
        folder::create(&packed)?;
        Tool::new("npm")
            .args(["pack", "--ignore-scripts", "--loglevel=error", "--update-notifier=false"])
            .args([format!("--cache={}", folder.join("cache").display())])
            .args([format!("{}@{}", self.package, self.version)])
            .current_dir(&packed)
            .watching(&folder)
            .run(workspace)?;
        let archive = only_file(&packed)
            .at("read", &packed)?
            .ok_or_else(|| FetchError::NotDownloaded { package: self.package.clone() })?;
        workspace.enter(Phase::Unpacking);
        self.integrity.check(&self.package, &archive)?;
        unpack::tar_gz(&archive, &workspace.tree)?;
        Ok(vec![Package { name: self.package.clone(), version: self.version.clone() }])
    }
}

/// npm chooses the archive's name from the package's.
fn only_file(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    fs::read_dir(folder)?.next().transpose().map(|item| item.map(|item| item.path()))
}
