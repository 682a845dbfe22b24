//! The folder of a data set.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::ExportError;
use crate::files::{temporary, unwritable};
use crate::staging::Staging;

/// The folder of a data set. Names of files are relative to it and use `/`.
pub(super) struct Folder {
    root: PathBuf,
    /// The folder of incomplete files. It is created with the first file.
    staging: OnceCell<Staging>,
}

impl Folder {
    /// Creates the folder if it does not exist.
    pub(super) fn create(root: &Path) -> Result<Self, ExportError> {
        fs::create_dir_all(root).map_err(|error| unwritable(root, &error))?;
        Ok(Self { root: root.to_owned(), staging: OnceCell::new() })
    }

    fn staging(&self) -> io::Result<&Staging> {
        if let Some(staging) = self.staging.get() {
            return Ok(staging);
        }
        let staging = Staging::new(&self.root)?;
        Ok(self.staging.get_or_init(|| staging))
    }

    /// Creates a file that does not belong to the data set yet. [`Self::put`] makes it part of the data set.
    pub(super) fn temporary(&self) -> Result<NamedTempFile, ExportError> {
        let file = self.staging().and_then(|staging| temporary(staging.path()));
        file.map_err(|error| unwritable(&self.root, &error))
    }

    /// Opens a file for reading; `None` if it does not exist.
    pub(super) fn open(&self, name: &str) -> Result<Option<File>, ExportError> {
        let path = self.path(name);
        match File::open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ExportError::Unreadable { path, reason: error.to_string() }),
        }
    }

    /// Makes all temporary files that were written so far durable, as fsync does for a single file.
    pub(super) fn settle(&self) -> Result<(), ExportError> {
        let settle = || Ok(rustix::fs::syncfs(File::open(&self.root)?)?);
        settle().map_err(|error: io::Error| unwritable(&self.root, &error))
    }

    /// Makes a complete file part of the data set, and returns its size in bytes. A file with the same name is
    /// replaced. Readers see either the whole new file or nothing of it.
    pub(super) fn put(&self, name: &str, file: TempPath) -> Result<u64, ExportError> {
        let path = self.path(name);
        let put = || {
            let bytes = file.metadata()?.len();
            fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(bytes)
        };
        put().map_err(|error: io::Error| unwritable(&path, &error))
    }

    /// Removes a file if it exists.
    pub(super) fn remove(&self, name: &str) -> Result<(), ExportError> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(&path, &error)),
            _ => Ok(()),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}
