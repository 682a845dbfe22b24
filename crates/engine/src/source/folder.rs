//! Source `folder`: a server in a user's folder. Its files stay there and are used through links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::FetchError;
use crate::cache::installation::Installation;
use crate::machine::path_error::At as _;
use crate::source::workspace::{Package, Workspace};

/// A user's folder that contains a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Folder {
    /// The folder's path, relative to the folder of the entry's file.
    pub(super) path: PathBuf,
}

impl Folder {
    /// Makes links to the folder's content. So a rebuilt server is used without another fetch.
    pub(super) fn fetch(&self, workspace: &Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        let path = fs::canonicalize(&self.path).at("find", &self.path)?;
        for item in fs::read_dir(&path).at("read", &path)? {
            let item = item.at("read", &path)?;
            let link = workspace.tree.join(item.file_name());
            symlink(item.path(), &link).at("create", &link)?;
        }
        Ok(vec![Package { name: path.display().to_string(), version: String::new() }])
    }

    /// Identifies the folder's server. `None` if the folder has no server.
    pub(super) fn fingerprint(&self) -> Option<String> {
        Some(Installation::from_basedir_unasked(&self.path).ok()?.fingerprint())
    }

    pub(super) fn obstacle(&self) -> Option<String> {
        (!self.path.is_dir()).then(|| format!("there is no folder {}", self.path.display()))
    }

    pub(super) fn start_at(&mut self, folder: &Path) {
        self.path = folder.join(&self.path);
    }
}
