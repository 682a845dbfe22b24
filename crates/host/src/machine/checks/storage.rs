//! The storage under the data.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use procfs::process::Process;
use rustix::fs::statvfs;

use crate::machine::device::mount_of;

const SYNC_WRITES_MAX: usize = 50;
const SYNC_WRITES_MIN: usize = 5;
/// Time limit of all test writes together. On a slow disk there are fewer writes, so that the check does not delay
/// the run.
const SYNC_PATIENCE: Duration = Duration::from_millis(400);
const BLOCK_BYTES: usize = 4096;

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The file system's type, such as `ext4`.
    pub kind: String,
    /// Options of the mount and of the file system, in alphabetical order, comma-separated.
    pub options: String,
}

/// Free space for users' files on a folder's file system, in bytes.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let facts = statvfs(folder).ok()?;
    Some(facts.f_bavail * facts.f_frsize)
}

pub(super) fn file_system(folder: &Path) -> Option<FileSystem> {
    let folder = fs::canonicalize(folder).ok()?;
    let mounts = Process::myself().ok()?.mountinfo().ok()?.0;
    let mount = mount_of(&folder, &mounts)?;
    Some(FileSystem {
        kind: mount.fs_type.clone(),
        options: options(&[&mount.mount_options, &mount.super_options]),
    })
}

fn options(maps: &[&HashMap<String, Option<String>>]) -> String {
    let written = |(name, value): (&String, &Option<String>)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.clone(),
    };
    let mut all: Vec<String> = maps.iter().flat_map(|map| map.iter().map(written)).collect();
    all.sort();
    all.dedup();
    all.join(",")
}

/// The median time, in µs, of writes of 4 KB into a file, each followed by `fdatasync`, as in a server's log.
/// `None` if the folder cannot be written to.
pub(super) fn sync_write_us(folder: &Path) -> Option<u64> {
    // The file has no name, so it cannot be left behind after a crash.
    let file = tempfile::tempfile_in(folder).ok()?;
    let block = [1; BLOCK_BYTES];
    // The first write allocates the block. The timed writes go to allocated blocks, as in a preallocated log.
    write_and_sync(&file, &block).ok()?;
    let begin = Instant::now();
    let mut times_us = Vec::new();
    while times_us.len() < SYNC_WRITES_MIN
        || (times_us.len() < SYNC_WRITES_MAX && begin.elapsed() < SYNC_PATIENCE)
    {
        let before = Instant::now();
        write_and_sync(&file, &block).ok()?;
        times_us.push(before.elapsed().as_micros() as u64);
    }
    times_us.sort_unstable();
    times_us.get(times_us.len() / 2).copied()
}

fn write_and_sync(file: &File, block: &[u8]) -> io::Result<()> {
    file.write_all_at(block, 0)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_of_a_folder_is_told() {
        let proc = file_system(Path::new("/proc/self")).unwrap();
        assert_eq!(proc.kind, "proc");
        assert!(proc.options.split(',').any(|option| option == "rw"), "{}", proc.options);
        assert_eq!(file_system(Path::new("/no/such/folder")), None);
    }

    #[test]
    fn options_are_in_order_and_once_each() {
        let map = |pairs: &[(&str, Option<&str>)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect()
        };
        let (mount, super_block) =
            (map(&[("rw", None), ("noatime", None)]), map(&[("rw", None), ("data", Some("ordered"))]));
        assert_eq!(options(&[&mount, &super_block]), "data=ordered,noatime,rw");
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_has_no_time() {
        assert_eq!(sync_write_us(Path::new("/proc/self")), None);
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_write_us(folder.path()).is_some());
    }
}
