//! Writes several files. They get their final names only when all of them are complete.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::ExportError;
use crate::staging::Staging;

/// Incomplete files that will appear in a folder. Dropping this value deletes them. If the process is killed, the
/// files stay in a hidden folder. The next export into the same folder removes the hidden folder.
pub struct Files {
    folder: PathBuf,
    overwrite: bool,
    staging: Staging,
    /// Whether the folder must be created.
    is_new: bool,
    names: Vec<String>,
}

impl Files {
    /// Prepares to write files with these names. The folder need not exist. If it does not, it appears together
    /// with the files.
    ///
    /// # Errors
    /// A file with one of these names exists and `overwrite` is not set. Or the folder or its parent cannot be
    /// written.
    pub fn new(folder: &Path, names: &[String], overwrite: bool) -> Result<Self, ExportError> {
        let taken = names.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
        if let Some(path) = taken.filter(|_| !overwrite) {
            return Err(ExportError::Exists { path });
        }
        let is_new = folder.symlink_metadata().is_err();
        let around = || -> io::Result<&Path> {
            // For a path that is only a name, `parent` returns an empty path, but the parent is the current folder.
            let around = match folder.parent() {
                Some(around) if around.as_os_str().is_empty() => Path::new("."),
                Some(around) => around,
                None => folder,
            };
            fs::create_dir_all(around)?;
            Ok(around)
        };
        let staging = if is_new { around().and_then(Staging::new) } else { Staging::new(folder) };
        let staging = staging.map_err(|error| unwritable(folder, &error))?;
        Ok(Self { folder: folder.to_owned(), overwrite, staging, is_new, names: Vec::new() })
    }

    /// Creates a file. It gets its final name when all files are written.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(&mut self, name: &str) -> Result<File, ExportError> {
        let file = File::create_new(self.staging.path().join(name))
            .map_err(|error| unwritable(&self.folder.join(name), &error))?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// Gives every file its final name, and returns the paths and sizes in bytes, in order of creation. A new folder
    /// appears together with all its files. In an existing folder, the files appear one after the other.
    ///
    /// # Errors
    /// The files cannot be made durable or renamed. Or `overwrite` is not set, and a file with one of the names has
    /// been created meanwhile.
    pub fn keep(self) -> Result<Vec<(PathBuf, u64)>, ExportError> {
        let Self { folder, overwrite, staging, is_new, names } = self;
        let mut kept = Vec::new();
        for name in &names {
            let path = folder.join(name);
            let settle = || {
                let file = File::open(staging.path().join(name))?;
                file.sync_all()?;
                Ok(file.metadata()?.len())
            };
            let bytes = settle().map_err(|error: io::Error| unwritable(&path, &error))?;
            kept.push((path, bytes));
        }
        if is_new {
            staging.publish(&folder).map_err(|error| taken_or_unwritable(&folder, &error))?;
            return Ok(kept);
        }
        for (name, (path, _)) in names.iter().zip(&kept) {
            let rename = || {
                let file = TempPath::try_from_path(staging.path().join(name))?;
                let renamed = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
                renamed.map_err(|error| error.error)
            };
            rename().map_err(|error: io::Error| taken_or_unwritable(path, &error))?;
        }
        Ok(kept)
    }
}

/// Writes a file so that it appears, or replaces an existing file, only when it is complete. If the path leads to
/// something else than a regular file, such as a pipe or a link, the content is written directly to it. The content
/// is also written directly if the folder cannot be written.
///
/// # Errors
/// The file cannot be written. Then an existing file keeps its old content, unless the new content is written directly.
pub fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let present = path.symlink_metadata();
    if present.as_ref().is_ok_and(|present| !present.is_file()) {
        return fs::write(path, content);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = match temporary(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return fs::write(path, content),
        file => file?,
    };
    file.as_file_mut().write_all(content)?;
    if let Ok(present) = present {
        file.as_file().set_permissions(present.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

fn taken_or_unwritable(path: &Path, error: &io::Error) -> ExportError {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => {
            ExportError::Exists { path: path.to_owned() }
        }
        _ => unwritable(path, error),
    }
}

/// A new temporary file in a folder, which can be renamed to its final name.
pub(crate) fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        // The permissions that a new file usually has. The user's umask takes some of them away. By default, only the
        // owner can read a temporary file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

pub(crate) fn unwritable(path: &Path, error: &dyn std::error::Error) -> ExportError {
    ExportError::Unwritable { path: path.to_owned(), reason: error.to_string() }
}
