//! Identifies a file or a folder of data without reading it, by the names, sizes and times of its files.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use dyno_engine::SnapshotParts;

use crate::run::error::DataError;

/// Adds the name, size and time of a file, or of each file in a folder, to the parts of a snapshot's key.
pub(super) fn of(path: &Path, parts: SnapshotParts) -> Result<SnapshotParts, DataError> {
    let unreadable = |error: std::io::Error| DataError::Unreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    let about = fs::symlink_metadata(path).and_then(|about| {
        // A link that the user gave is followed. Links inside the folder are not.
        if about.is_symlink() { fs::metadata(path) } else { Ok(about) }
    });
    let about = about.map_err(unreadable)?;
    if !about.is_dir() {
        return Ok(with_file(parts, path, &about));
    }
    let mut parts = parts.with(&format!("folder {}", path.display()), "");
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder).map_err(unreadable)? {
            let item = item.map_err(unreadable)?;
            let about = item.metadata().map_err(unreadable)?;
            if about.is_dir() {
                folders.push(item.path());
            } else {
                parts = with_file(parts, &item.path(), &about);
            }
        }
    }
    Ok(parts)
}

fn with_file(parts: SnapshotParts, path: &Path, about: &fs::Metadata) -> SnapshotParts {
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ns = modified.map_or(0, |time| time.as_nanos());
    parts.with(&format!("file {}", path.display()), &format!("{} {modified_ns}", about.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_is_other_data() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("shop")).unwrap();
        let file = folder.path().join("shop/t.ibd");
        fs::write(&file, "one").unwrap();
        let key = |path: &Path| of(path, SnapshotParts::default()).unwrap().key();
        let (of_folder, of_file) = (key(folder.path()), key(&file));
        assert_eq!((key(folder.path()), key(&file)), (of_folder.clone(), of_file.clone()));
        fs::write(&file, "other").unwrap();
        assert_ne!(key(folder.path()), of_folder);
        assert_ne!(key(&file), of_file);
        assert!(of(&folder.path().join("nowhere"), SnapshotParts::default()).is_err());
    }
}
