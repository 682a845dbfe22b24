//! Size of a folder on disk.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `st_blocks` counts units of 512 bytes, whatever the file system's block size is (inode(7)).
const BLOCK_BYTES: u64 = 512;

/// Bytes allocated to a file, or to a folder and its contents. Symbolic links are counted but not followed. Files
/// that disappear during the count are left out, because a running server deletes files.
///
/// # Errors
/// The path does not exist or cannot be read.
pub fn disk_bytes(path: &Path) -> io::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    let own = metadata.blocks() * BLOCK_BYTES;
    if !metadata.is_dir() {
        return Ok(own);
    }
    let mut sum = own;
    for entry in fs::read_dir(path)? {
        sum += match entry.and_then(|entry| disk_bytes(&entry.path())) {
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            bytes => bytes?,
        };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_allocated_and_not_how_long_files_seem() {
        let folder = tempfile::tempdir().unwrap();
        let empty = disk_bytes(folder.path()).unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("data/rows"), vec![1; 100_000]).unwrap();
        fs::File::create(folder.path().join("data/hole")).unwrap().set_len(1 << 30).unwrap();
        let all = fs::File::open(folder.path().join("data/rows")).unwrap();
        all.sync_all().unwrap();
        let grown = disk_bytes(folder.path()).unwrap() - empty;
        assert!((100_000..1_000_000).contains(&grown), "{grown}");
    }

    #[test]
    fn a_link_is_not_followed_and_nothing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/usr", folder.path().join("link")).unwrap();
        assert!(disk_bytes(folder.path()).unwrap() < 1_000_000);
        assert_eq!(disk_bytes(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
