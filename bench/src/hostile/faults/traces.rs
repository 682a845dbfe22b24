//! Finds the resources that runs leave behind in the kernel and on disk.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::processes;

/// The resources that the runs in a folder have created so far. None of them may exist when the runs have ended.
pub(super) struct Traces {
    folder: PathBuf,
    /// Mounts that the benchmark itself made.
    mounts: BTreeSet<PathBuf>,
    groups: BTreeSet<PathBuf>,
    shared_files: BTreeSet<PathBuf>,
    /// Ids of System V shared memory segments.
    segments: BTreeSet<i64>,
}

impl Traces {
    /// Begins the record for a folder in which no run has begun.
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            mounts: mounts_in(folder).into_iter().collect(),
            groups: BTreeSet::new(),
            shared_files: BTreeSet::new(),
            segments: BTreeSet::new(),
        }
    }

    /// Records the resources that a run has created and could leave behind.
    pub(super) fn note(&mut self, dyno: i32) {
        for cache in caches(&self.folder) {
            for item in items(&cache.join("runs")) {
                let record = fs::read(item.join("made.json")).unwrap_or_default();
                let record: serde_json::Value = serde_json::from_slice(&record).unwrap_or_default();
                let groups = record["groups"].as_array().into_iter().flatten();
                self.groups.extend(groups.filter_map(|group| group.as_str().map(PathBuf::from)));
            }
        }
        let pids: Vec<i32> = processes::descendants(dyno).iter().map(|process| process.pid).collect();
        for pid in &pids {
            let files = processes::mapped_in(*pid, Path::new("/dev/shm"));
            self.shared_files.extend(files.into_iter().map(PathBuf::from));
        }
        self.segments.extend(segments().filter(|(_, creator)| pids.contains(creator)).map(|(id, _)| id));
    }

    /// Returns a line for each resource that still exists although no run is in progress.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mounts = mounts_in(&self.folder).into_iter().filter(|mount| !self.mounts.contains(mount));
        left.extend(mounts.map(|mount| format!("mount {}", mount.display())));
        left.extend(loop_devices(&self.folder));
        let there = |paths: &BTreeSet<PathBuf>, what: &str| -> Vec<String> {
            let there = paths.iter().filter(|path| path.exists());
            there.map(|path| format!("{what} {}", path.display())).collect()
        };
        left.extend(there(&self.groups, "group"));
        left.extend(there(&self.shared_files, "shared memory"));
        let living: BTreeSet<i64> = segments().map(|(id, _)| id).collect();
        left.extend(self.segments.intersection(&living).map(|id| format!("System V segment {id}")));
        for cache in caches(&self.folder) {
            let of_runs =
                items(&cache.join("runs")).into_iter().filter(|item| !item.ends_with("scratch-door"));
            let half_made = ["snapshots", "templates"].map(|name| items(&cache.join(name))).concat();
            let half_made = half_made.into_iter().filter(|item| is_half_made(item));
            left.extend(of_runs.chain(half_made).map(|item| format!("file {}", item.display())));
        }
        left.extend(
            items(&self.folder.join("sockets")).iter().map(|item| format!("file {}", item.display())),
        );
        left.extend(items(&self.folder.join("tmp")).iter().map(|item| format!("file {}", item.display())));
        left
    }

    /// Removes the leftovers, and forgets System V segments, so that each leftover is counted once.
    pub(super) fn clear(&mut self) {
        clear(&self.folder, &self.mounts);
        for group in &self.groups {
            let _ = fs::remove_dir(group);
        }
        for file in &self.shared_files {
            let _ = fs::remove_file(file);
        }
        self.segments.clear();
    }
}

/// Unmounts the mounts below a folder, except those in `but`. Also removes the files that runs left behind in the
/// folder.
pub(super) fn clear(folder: &Path, but: &BTreeSet<PathBuf>) {
    for mount in mounts_in(folder).into_iter().rev().filter(|mount| !but.contains(mount)) {
        unmount(&mount);
    }
    for cache in caches(folder) {
        for item in items(&cache.join("runs")) {
            let _ = if item.is_dir() { fs::remove_dir_all(&item) } else { fs::remove_file(&item) };
        }
    }
    for item in [items(&folder.join("sockets")), items(&folder.join("tmp"))].concat() {
        let _ = fs::remove_dir_all(&item);
    }
}

/// Unmounts a file system, even while processes use it.
pub(super) fn unmount(mount: &Path) {
    let Ok(path) = std::ffi::CString::new(mount.as_os_str().as_encoded_bytes()) else { return };
    // SAFETY: the path is a C string that lives through the call.
    unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
}

fn caches(folder: &Path) -> [PathBuf; 2] {
    ["memory/cache", "disk/cache"].map(|name| folder.join(name))
}

fn items(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path()).collect()
}

/// Whether a file has a temporary name, as snapshots and templates have while they are being made.
fn is_half_made(item: &Path) -> bool {
    item.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']))
}

/// Returns the mounts at or below a folder, in order of creation (proc(5), mountinfo).
fn mounts_in(folder: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = text.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    points.filter(|point| point.starts_with(folder)).collect()
}

/// Returns the loop devices whose file is below a folder.
fn loop_devices(folder: &Path) -> Vec<String> {
    let of = |device: PathBuf| {
        let file = fs::read_to_string(device.join("loop/backing_file")).ok()?;
        let is_ours = Path::new(file.trim_end()).starts_with(folder);
        is_ours.then(|| format!("loop device of {}", file.trim_end()))
    };
    items(Path::new("/sys/block")).into_iter().filter_map(of).collect()
}

/// Returns the System V shared memory segments, each with the process that created it (proc(5), sysvipc/shm).
fn segments() -> impl Iterator<Item = (i64, i32)> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let of = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some((fields.get(1)?.parse().ok()?, fields.get(4)?.parse().ok()?))
    };
    text.lines().skip(1).filter_map(of).collect::<Vec<_>>().into_iter()
}
