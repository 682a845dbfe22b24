//! Lists a folder in enough detail to notice changes.
//!
//! Contents are only sampled, because reading a large snapshot costs as much as copying it, and more than cloning
//! it. A file that a program has changed differs in size or modification time. Damage within a page is found by the
//! engines' own checksums.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Damage;
use crate::machine::hexadecimal::hexadecimal;
use crate::machine::path_error::{At as _, PathError};

const BLOCK_BYTES: u64 = 4096;
/// Number of sampled blocks of a file: the first, the last, and others evenly between.
const BLOCKS: u64 = 16;

/// An item of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// The item's path, relative to the folder.
    path: PathBuf,
    mode: u32,
    uid: u32,
    gid: u32,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Folder,
    File { bytes: u64, modified_ns: i64, sample: String },
    Link { target: PathBuf },
}

impl Item {
    pub(super) fn is_file(&self) -> bool {
        matches!(self.content, Content::File { .. })
    }

    pub(super) fn bytes(&self) -> u64 {
        if let Content::File { bytes, .. } = self.content { bytes } else { 0 }
    }
}

/// All items of a folder in order of path, without sockets and pipes.
pub(super) fn survey(root: &Path) -> Result<Vec<Item>, PathError> {
    let mut items = Vec::new();
    look(root, Path::new(""), &mut items)?;
    items.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(items)
}

fn look(root: &Path, below: &Path, items: &mut Vec<Item>) -> Result<(), PathError> {
    let path = root.join(below);
    let metadata = fs::symlink_metadata(&path).at("look at", &path)?;
    let kind = metadata.file_type();
    let content = if kind.is_dir() {
        for item in fs::read_dir(&path).at("read", &path)? {
            look(root, &below.join(item.at("read", &path)?.file_name()), items)?;
        }
        Content::Folder
    } else if kind.is_symlink() {
        Content::Link { target: fs::read_link(&path).at("read", &path)? }
    } else if kind.is_file() {
        Content::File {
            bytes: metadata.len(),
            modified_ns: metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(),
            sample: sample(&path, metadata.len()).at("read", &path)?,
        }
    } else {
        return Ok(());
    };
    let (mode, uid, gid) = (metadata.mode(), metadata.uid(), metadata.gid());
    items.push(Item { path: below.to_owned(), mode, uid, gid, content });
    Ok(())
}

/// Returns the SHA-256 of a file's sampled blocks.
fn sample(path: &Path, bytes: u64) -> io::Result<String> {
    let file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = [0; BLOCK_BYTES as usize];
    for at in blocks(bytes) {
        let length = BLOCK_BYTES.min(bytes - at) as usize;
        file.read_exact_at(&mut block[..length], at)?;
        hash.update(&block[..length]);
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// Returns the offsets of the sampled blocks of a file that has `bytes` bytes.
fn blocks(bytes: u64) -> Vec<u64> {
    let all = bytes.div_ceil(BLOCK_BYTES);
    if all <= BLOCKS {
        return (0..all).map(|block| block * BLOCK_BYTES).collect();
    }
    (0..BLOCKS).map(|place| place * (all - 1) / (BLOCKS - 1) * BLOCK_BYTES).collect()
}

/// Compares lists of items. The error is the first difference.
pub(super) fn compare(expected: &[Item], found: &[Item]) -> Result<(), Damage> {
    let (mut expected, mut found) = (expected.iter().peekable(), found.iter().peekable());
    loop {
        let damage = match (expected.peek(), found.peek()) {
            (None, None) => return Ok(()),
            (Some(a), None) => Damage::Missing(a.path.clone()),
            (None, Some(b)) => Damage::Unexpected(b.path.clone()),
            (Some(a), Some(b)) => match a.path.cmp(&b.path) {
                Ordering::Less => Damage::Missing(a.path.clone()),
                Ordering::Greater => Damage::Unexpected(b.path.clone()),
                Ordering::Equal if a != b => Damage::Changed(a.path.clone()),
                Ordering::Equal => {
                    expected.next();
                    found.next();
                    continue;
                }
            },
        };
        return Err(damage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_a_small_file_and_both_ends_of_a_large_one_are_looked_into() {
        assert!(blocks(0).is_empty());
        assert_eq!(blocks(1), [0]);
        assert_eq!(blocks(4097), [0, 4096]);
        let large = blocks((1 << 30) + 1);
        assert_eq!(large.len(), 16);
        assert_eq!((large[0], large[15]), (0, 1 << 30));
        assert!(large.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn differences_are_found_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("db")).unwrap();
        fs::write(root.join("db/t"), "rows").unwrap();
        fs::write(root.join("log"), "log").unwrap();
        let expected = survey(root).unwrap();
        assert_eq!(compare(&expected, &survey(root).unwrap()), Ok(()));

        fs::write(root.join("a"), "").unwrap();
        let found = survey(root).unwrap();
        assert_eq!(compare(&expected, &found), Err(Damage::Unexpected("a".into())));
        assert_eq!(compare(&found, &expected), Err(Damage::Missing("a".into())));
        fs::remove_file(root.join("a")).unwrap();

        // Only the sampled content shows this change: the file keeps its size, and its old modification time is
        // restored.
        let modified = fs::metadata(root.join("db/t")).unwrap().modified().unwrap();
        fs::write(root.join("db/t"), "sour").unwrap();
        File::options().write(true).open(root.join("db/t")).unwrap().set_modified(modified).unwrap();
        assert_eq!(compare(&expected, &survey(root).unwrap()), Err(Damage::Changed("db/t".into())));
    }
}
