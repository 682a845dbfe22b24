//! Lists and removes the content of the cache.

use std::cmp::Reverse;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cache::home::remove_dead_homes;
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::cache::snapshot::{SnapshotError, SnapshotKey, SnapshotSummary, Snapshots};
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::is_run_from;

/// An item of the cache.
#[derive(Clone, Debug)]
pub struct CacheItem {
    pub kind: CacheItemKind,
    place: Place,
    /// For a snapshot, its description. For any other item, the name of its folder.
    pub name: String,
    /// Disk space in bytes.
    pub disk_bytes: u64,
    /// Time at which the item was last used, or created if it was never used.
    pub used_at: SystemTime,
    /// Whether a process uses the item. An item in use cannot be removed.
    pub is_in_use: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheItemKind {
    /// An unpacked engine, or an engine that is only partly fetched.
    Engine,
    /// A snapshot: a copy of a loaded data folder.
    Snapshot,
    /// The data folder of a server that never ran. New data folders are copies of it.
    Template,
    /// Programs and package indexes for fetching engines and examining servers.
    Tool,
}

impl CacheItemKind {
    /// All kinds, in the order in which lists show them.
    pub const ALL: [Self; 4] = [Self::Engine, Self::Snapshot, Self::Template, Self::Tool];
}

/// The location of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A folder, with a lock file beside it.
    Folder(PathBuf),
    Snapshot(SnapshotKey),
}

/// Which items to remove.
#[derive(Clone, Debug)]
pub struct PruneLimits {
    /// Only items of these kinds are removed.
    pub kinds: Vec<CacheItemKind>,
    /// Items that were not used for longer than this duration are removed.
    pub unused_for: Option<Duration>,
    /// The least recently used items are removed until the remaining items take at most this many bytes.
    pub keep_bytes: Option<u64>,
}

impl CacheItem {
    /// Removes the item unless a process uses it. Returns whether the item was removed.
    ///
    /// # Errors
    /// The item's files cannot be removed.
    fn remove(&self, cache: &Cache) -> Result<bool, PathError> {
        match &self.place {
            Place::Snapshot(key) => match Snapshots::of(cache).remove(key) {
                Err(SnapshotError::Path(error)) => Err(error),
                removed => Ok(removed.is_ok()),
            },
            Place::Folder(folder) => {
                // A fetch of an engine takes this lock too, so the folder of a running fetch is not removed.
                let turn = folder::lock_if_free(&lock_of(folder))?;
                if turn.is_none() || is_run_from(folder) {
                    return Ok(false);
                }
                folder::remove(folder).map(|()| true)
            }
        }
    }
}

/// Returns the items of a cache, grouped by kind. Within a kind, the most recently used item comes first.
///
/// # Errors
/// The cache cannot be read.
pub fn cache_contents(cache: &Cache) -> Result<Vec<CacheItem>, PathError> {
    let mut items = Vec::new();
    for kind in CacheItemKind::ALL {
        items.extend(match kind {
            CacheItemKind::Engine => folders(&cache.engines(), kind)?,
            CacheItemKind::Snapshot => snapshots(cache)?,
            CacheItemKind::Template => folders(&cache.templates(), kind)?,
            CacheItemKind::Tool => folders(&cache.tools(), kind)?,
        });
    }
    Ok(items)
}

/// Returns the disk space in bytes that the data of runs takes. Data of killed runs counts too, until the next run
/// removes it.
pub fn bytes_of_runs(cache: &Cache) -> u64 {
    folder::allocated_bytes(&cache.runs())
}

fn snapshots(cache: &Cache) -> Result<Vec<CacheItem>, PathError> {
    let snapshot = |summary: SnapshotSummary| CacheItem {
        kind: CacheItemKind::Snapshot,
        place: Place::Snapshot(summary.key),
        name: summary.description,
        disk_bytes: summary.disk_bytes,
        used_at: summary.used_at,
        is_in_use: summary.is_in_use,
    };
    Ok(Snapshots::of(cache).list()?.into_iter().map(snapshot).collect())
}

/// Removes the items that exceed the limits, except items in use. Returns the removed items. Also removes the data of
/// killed runs.
///
/// # Errors
/// The cache cannot be read, or something cannot be removed.
pub fn prune_cache(cache: &Cache, limits: &PruneLimits) -> Result<Vec<CacheItem>, PathError> {
    remove_dead_homes(&cache.runs())?;
    let mut removed = Vec::new();
    for item in beyond(cache_contents(cache)?, limits, SystemTime::now()) {
        if item.remove(cache)? {
            removed.push(item);
        }
    }
    Ok(removed)
}

fn folders(parent: &Path, kind: CacheItemKind) -> Result<Vec<CacheItem>, PathError> {
    let items = match fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        items => items.at("read", parent)?,
    };
    // Only folders are items. The parent also contains lock files.
    let folders = items.flatten().map(|item| item.path()).filter(|path| path.is_dir());
    let item = |folder: PathBuf| CacheItem {
        kind,
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        disk_bytes: folder::allocated_bytes(&folder),
        used_at: used_at(&folder),
        is_in_use: is_locked(&folder) || is_run_from(&folder),
        place: Place::Folder(folder),
    };
    let mut items: Vec<CacheItem> = folders.map(item).collect();
    items.sort_by_key(|item| Reverse(item.used_at));
    Ok(items)
}

fn used_at(folder: &Path) -> SystemTime {
    Installation::used_at(folder)
        .or_else(|| fs::metadata(folder).and_then(|metadata| metadata.modified()).ok())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

fn is_locked(folder: &Path) -> bool {
    fs::File::open(lock_of(folder)).is_ok_and(|lock| lock.try_lock_shared().is_err())
}

/// The path of a folder's lock file. A folder and its partial fetch share one lock file.
fn lock_of(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    folder.with_file_name(format!("{}.lock", name.trim_end_matches(".partial")))
}

/// Returns the items that exceed the limits. The least recently used item comes first.
fn beyond(items: Vec<CacheItem>, limits: &PruneLimits, now: SystemTime) -> Vec<CacheItem> {
    let mut candidates: Vec<_> = items.into_iter().filter(|item| limits.kinds.contains(&item.kind)).collect();
    candidates.sort_by_key(|item| item.used_at);
    let mut bytes: u64 = candidates.iter().map(|item| item.disk_bytes).sum();
    candidates.retain(|item| {
        let age = now.duration_since(item.used_at).unwrap_or_default();
        let is_old = limits.unused_for.is_some_and(|limit| age > limit);
        let is_too_much = limits.keep_bytes.is_some_and(|limit| bytes > limit);
        let goes = !item.is_in_use && (is_old || is_too_much);
        bytes -= if goes { item.disk_bytes } else { 0 };
        goes
    });
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::snapshot::SnapshotParts;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn item(name: &str, disk_bytes: u64, used_at: SystemTime, is_in_use: bool) -> CacheItem {
        let (kind, place) = if name.starts_with('s') {
            let key = SnapshotParts::default().with("name", name).key();
            (CacheItemKind::Snapshot, Place::Snapshot(key))
        } else {
            (CacheItemKind::Engine, Place::Folder(name.into()))
        };
        CacheItem { kind, place, name: name.to_owned(), disk_bytes, used_at, is_in_use }
    }

    fn names(limits: &PruneLimits) -> Vec<String> {
        let now = SystemTime::now();
        let items = vec![
            item("engine new", 10, now, false),
            item("engine old", 20, now - 40 * DAY, false),
            item("snapshot", 30, now - 20 * DAY, false),
            item("snapshot in use", 40, now - 90 * DAY, true),
        ];
        beyond(items, limits, now).into_iter().map(|item| item.name).collect()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_is_in_use_stays() {
        let all =
            |unused_for, keep_bytes| PruneLimits { kinds: CacheItemKind::ALL.into(), unused_for, keep_bytes };
        assert!(names(&all(None, None)).is_empty());
        assert_eq!(names(&all(Some(30 * DAY), None)), ["engine old"]);
        assert_eq!(names(&all(None, Some(85))), ["engine old"]);
        assert_eq!(names(&all(None, Some(60))), ["engine old", "snapshot"]);
        assert_eq!(names(&all(Some(10 * DAY), Some(0))), ["engine old", "snapshot", "engine new"]);
        let engines = PruneLimits { kinds: vec![CacheItemKind::Engine], ..all(None, Some(10)) };
        assert_eq!(names(&engines), ["engine old"]);
    }

    #[test]
    fn an_engine_that_is_fetched_or_run_stays() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let [fetched, run, idle] = ["a@1.partial", "b@1", "c@1"].map(|name| cache.engines().join(name));
        for folder in [&fetched, &run, &idle] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("file"), vec![1; 10_000]).unwrap();
        }
        let _fetch = folder::lock(&cache.engines().join("a@1.lock")).unwrap();
        fs::copy("/bin/sleep", run.join("server")).unwrap();
        let mut server = std::process::Command::new(run.join("server")).arg("1000").spawn().unwrap();
        let everything =
            PruneLimits { kinds: CacheItemKind::ALL.into(), unused_for: None, keep_bytes: Some(0) };

        let in_use: Vec<_> =
            cache_contents(&cache).unwrap().into_iter().filter(|item| item.is_in_use).collect();
        let removed = prune_cache(&cache, &everything).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();

        assert_eq!(in_use.len(), 2);
        assert_eq!(removed.len(), 1);
        assert_eq!((removed[0].name.as_str(), removed[0].disk_bytes > 9999), ("c@1", true));
        assert!(fetched.exists() && run.exists() && !idle.exists());
    }
}
