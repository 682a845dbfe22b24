//! Source `npm`: a package of the npm registry, by `npm pack`.

use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::source::download::integrity::Integrity;
use crate::source::download::progress::Phase;
use crate::source::download::tool::Tool;
use crate::source::download::word::{ScopedName, Word};
use crate::source::error::FetchError;
use crate::source::unpack;
use crate::source::workspace::only_file;
use crate::source::workspace::{Package, Workspace};

/// One package at one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Npm {
    package: ScopedName,
    version: Word,
    integrity: Integrity,
}

impl Npm {
    pub(in crate::source) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
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
