//! Source `pip`: a wheel of a Python package index, by `pip download`.

use serde::{Deserialize, Serialize};

use crate::machine::folder;
use crate::source::download::integrity::Integrity;
use crate::source::download::progress::Phase;
use crate::source::download::tool::Tool;
use crate::source::download::word::Word;
use crate::source::error::FetchError;
use crate::source::unpack;
use crate::source::workspace::only_file;
use crate::source::workspace::{Package, Workspace};

/// One wheel. It is a zip archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pip {
    package: Word,
    version: Word,
    /// The wheel's platform tag (`manylinux2014_x86_64`).
    platform: Word,
    /// The wheel's Python version (`3.11`), if the package has wheels for several.
    python: Option<Word>,
    integrity: Integrity,
}

impl Pip {
    pub(in crate::source) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let folder = workspace.downloads.join("pip");
        folder::create(&folder)?;
        let python = self.python.iter().flat_map(|version| ["--python-version", version]);
        Tool::new("pip")
            .args(["download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"])
            .args(["--no-deps", "--only-binary=:all:", "--platform", &self.platform])
            .args(python)
            .args(["--".to_owned(), format!("{}=={}", self.package, self.version)])
            .current_dir(&folder)
            .watching(&folder)
            .run(workspace)?;
        let wheel = only_file(&folder, &self.package)?;
        workspace.enter(Phase::Unpacking);
        self.integrity.check(&self.package, &wheel)?;
        unpack::zip(&wheel, &workspace.tree, &unpack::Wanted::default())?;
        Ok(vec![Package { name: self.package.clone().into(), version: self.version.clone().into() }])
    }
}
