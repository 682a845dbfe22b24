//! Source `npm`: a package of the npm registry, by `npm pack`.

use serde::{Deserialize, Serialize};

use super::download::integrity::Integrity;
use super::download::progress::Phase;
use super::download::tool::Tool;
use super::download::word::{ScopedName, Word};
use super::error::FetchError;
use super::workspace::only_file;
use super::{Package, Workspace, unpack};
use crate::machine::folder;

/// One package at one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Npm {
    package: ScopedName,
    version: Word,
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
            .args(["--".to_owned(), format!("{}@{}", self.package, self.version)])
            .current_dir(&packed)
            .watching(&folder)
            .run(workspace)?;
        let name = self.package.to_string();
        let archive = only_file(&packed, &name)?;
        workspace.enter(Phase::Unpacking);
        self.integrity.check(&name, &archive)?;
        unpack::tar_gz(&archive, &workspace.tree)?;
        Ok(vec![Package { name, version: self.version.clone().into() }])
    }
}
