//! Why an archive cannot be unpacked.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why an archive cannot be unpacked.
#[derive(Debug, Error)]
pub enum UnpackError {
    /// The path of an item has `..` in it, and may lead out of the folder.
    #[error("its item '{}' may lead out of the folder that it is unpacked into", path.display())]
    LeadsOut { path: PathBuf },
    /// An item cannot be written. A link on its path leads out, a file is in the place of a folder, or the disk is
    /// full.
    #[error("its item '{}' cannot be written: {source}", path.display())]
    Item { path: PathBuf, source: io::Error },
    /// The archive contains only a link to a folder.
    #[error("there is nothing in it but the link '{}'; pack the folder that the link leads to", link.display())]
    OnlyALink { link: PathBuf },
    /// The archive is damaged or cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
}

impl UnpackError {
    pub(super) fn item(path: &Path, source: io::Error) -> Self {
        Self::Item { path: path.to_owned(), source }
    }
}
