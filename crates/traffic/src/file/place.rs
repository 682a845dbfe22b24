//! A file that appears only when it is complete.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::error::TrafficError;

/// A file that has a temporary name until it is complete. Dropping this value deletes the temporary file.
pub(crate) struct Place {
    path: PathBuf,
    overwrite: bool,
    temporary: TempPath,
}

impl Place {
    /// Creates the file under a temporary name.
    ///
    /// # Errors
    /// A file exists at the path and `overwrite` is not set, or the folder cannot be written.
    pub(crate) fn new(path: &Path, overwrite: bool) -> Result<Self, TrafficError> {
        let present = path.symlink_metadata();
        if present.as_ref().is_ok_and(|present| !overwrite || !present.is_file()) {
            return Err(TrafficError::Exists { path: path.to_owned() });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".dyno-traffic-")
            // A new file gets the usual permissions, minus the user's umask. A file that replaces another one gets
            // the permissions of that file.
            .permissions(
                present.map_or_else(|_| Permissions::from_mode(0o666), |present| present.permissions()),
            )
            .tempfile_in(folder)
            .map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), overwrite, temporary: file.into_temp_path() })
    }

    /// The path under which the file is written.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Syncs the file, then gives it its final name.
    ///
    /// # Errors
    /// The file cannot be synced or renamed, or another file has taken the name.
    pub(crate) fn keep(self) -> Result<(), TrafficError> {
        let Self { path, overwrite, temporary } = self;
        File::open(&temporary).and_then(|file| file.sync_all()).map_err(|error| unwritable(&path, &error))?;
        let kept = if overwrite { temporary.persist(&path) } else { temporary.persist_noclobber(&path) };
        kept.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => TrafficError::Exists { path: path.clone() },
            _ => unwritable(&path, &error.error),
        })
    }
}

pub(crate) fn unwritable(path: &Path, error: &dyn std::error::Error) -> TrafficError {
    TrafficError::Unwritable { path: path.to_owned(), reason: error.to_string() }
}
