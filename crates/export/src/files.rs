//! Files that are written under temporary names, then renamed. They never exist incomplete under their final names.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::ExportError;

/// The temporary files of an export. Dropping this deletes them.
pub(crate) struct Files {
    folder: PathBuf,
    overwrite: bool,
    written: Vec<(NamedTempFile, PathBuf)>,
}

impl Files {
    /// Creates the folder. Fails if one of the names exists in it, unless `overwrite` is set.
    pub(crate) fn new(folder: &Path, names: &[String], overwrite: bool) -> Result<Self, ExportError> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let taken = names.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
        match taken {
            Some(path) if !overwrite => Err(ExportError::Exists { path }),
            _ => Ok(Self { folder: folder.to_owned(), overwrite, written: Vec::new() }),
        }
    }

    /// A new file, which is renamed to `name` when all are written.
    pub(crate) fn create(&mut self, name: &str) -> Result<File, ExportError> {
        let path = self.folder.join(name);
        let file = temporary(&self.folder)?;
        let handle = file.as_file().try_clone().map_err(|error| unwritable(&path, &error))?;
        self.written.push((file, path));
        Ok(handle)
    }

    /// Renames every file to its final name. Returns their paths and sizes in bytes, in order of creation.
    pub(crate) fn keep(self) -> Result<Vec<(PathBuf, u64)>, ExportError> {
        for (file, path) in &self.written {
            file.as_file().sync_all().map_err(|error| unwritable(path, &error))?;
        }
        let keep = |(file, path): (NamedTempFile, PathBuf)| {
            let kept = if self.overwrite { file.persist(&path) } else { file.persist_noclobber(&path) };
            let size = kept.map_err(|error| error.error).and_then(|file| Ok(file.metadata()?.len()));
            match size {
                Ok(bytes) => Ok((path, bytes)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(ExportError::Exists { path })
                }
                Err(error) => Err(unwritable(&path, &error)),
            }
        };
        self.written.into_iter().map(keep).collect()
    }
}

/// A new temporary file in a folder, which can be renamed to its final name.
pub(crate) fn temporary(folder: &Path) -> Result<NamedTempFile, ExportError> {
    tempfile::Builder::new()
        .prefix(".dyno-export-")
        // The permissions of any new file, minus the user's umask. Temporary files would otherwise be private.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| unwritable(folder, &error))
}

pub(crate) fn unwritable(path: &Path, error: &dyn std::error::Error) -> ExportError {
    ExportError::Unwritable { path: path.to_owned(), reason: error.to_string() }
}
