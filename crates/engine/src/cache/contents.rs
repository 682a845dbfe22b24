//! Lists and removes engines and snapshots of the cache.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::cache::snapshot::{SnapshotError, SnapshotKey, Snapshots};
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::is_run_from;

/// An item of the cache.
#[derive(Clone, Debug)]
pub struct CacheItem {
    pub kind: CacheItemKind,
    /// An engine's name, or a snapshot's description.
    pub name: String,
    /// Disk space in bytes.
    pub disk_bytes: u64,
    /// Time of its last use or creation.
    pub used_at: SystemTime,
    /// Whether a process uses it, so that it cannot be removed.
    pub is_in_use: bool,
}

/// The kind of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheItemKind {
    /// An unpacked engine, or a partial fetch.
    Engine { folder: PathBuf },
    /// A loaded data folder.
    Snapshot { key: SnapshotKey },
}

/// Which items to remove.
#[derive(Clone, Copy, Debug)]
pub struct PruneLimits {
    pub engines: bool,
    pub snapshots: bool,
    /// Remove items not used for longer than this.
    pub unused_for: Option<Duration>,
    /// Remove the least recently used items until the rest takes no more bytes than this.
    pub keep_bytes: Option<u64>,
}

impl CacheItem {
    /// Removes it, unless a process uses it.
    ///
    /// # Errors
    /// Its files cannot be removed.
    fn remove(&self, cache: &Cache) -> Result<bool, PathError> {
        match &self.kind {
            CacheItemKind::Snapshot { key } => match Snapshots::of(cache).remove(key) {
                Err(SnapshotError::Path(error)) => Err(error),
                removed => Ok(removed.is_ok()),
            },
            CacheItemKind::Engine { folder } => {
                // As a fetch locks it.
                let turn = folder::lock_if_free(&lock_of(folder))?;
                if turn.is_none() || is_run_from(folder) {
                    return Ok(false);
                }
                folder::remove(folder).map(|()| true)
            }
        }
    }
}

/// Engines and snapshots of a cache, the last used of each kind first.
///
/// # Errors
/// The cache cannot be read.
pub fn cache_contents(cache: &Cache) -> Result<Vec<CacheItem>, PathError> {
    let mut items = engines(&cache.engines())?;
    items.sort_by_key(|item| std::cmp::Reverse(item.used_at));
    items.extend(Snapshots::of(cache).list()?.into_iter().map(|summary| CacheItem {
        kind: CacheItemKind::Snapshot { key: summary.key },
        name: summary.description,
        disk_bytes: summary.disk_bytes,
        used_at: summary.used_at,
        is_in_use: summary.is_in_use,
    }));
    Ok(items)
}

/// Removes and returns items beyond the limits that are not in use.
///
/// # Errors
/// The cache cannot be read, or something cannot be removed.
pub fn prune_cache(cache: &Cache, limits: &PruneLimits) -> Result<Vec<CacheItem>, PathError> {
    let mut removed = Vec::new();
    for item in beyond(cache_contents(cache)?, limits, SystemTime::now()) {
        if item.remove(cache)? {
            removed.push(item);
        }
    }
    Ok(removed)
}

fn engines(parent: &Path) -> Result<Vec<CacheItem>, PathError> {
    let items = match fs::read_dir(parent) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        items => items.at("read", parent)?,
    };
    // Lock files are next to them.
    let folders = items.flatten().map(|item| item.path()).filter(|path| path.is_dir());
    let engine = |folder: PathBuf| CacheItem {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        disk_bytes: folder::allocated_bytes(&folder),
        used_at: used_at(&folder),
        is_in_use: is_locked(&folder) || is_run_from(&folder),
        kind: CacheItemKind::Engine { folder },
    };
    Ok(folders.map(engine).collect())
}

fn used_at(folder: &Path) -> SystemTime {
    Installation::used_at(folder)
        .or_else(|| fs::metadata(folder).and_then(|metadata| metadata.modified()).ok())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

fn is_locked(engine: &Path) -> bool {
    fs::File::open(lock_of(engine)).is_ok_and(|lock| lock.try_lock_shared().is_err())
}

/// The lock of an engine's place, which is also that of a fetch that was cut short.
fn lock_of(engine: &Path) -> PathBuf {
    let name = engine.file_name().unwrap_or_default().to_string_lossy().into_owned();
    engine.with_file_name(format!("{}.lock", name.trim_end_matches(".partial")))
}

/// Items beyond the limits, the least recently used first.
fn beyond(items: Vec<CacheItem>, limits: &PruneLimits, now: SystemTime) -> Vec<CacheItem> {
    let mut candidates: Vec<_> = items.into_iter().filter(|item| may_go(item, limits)).collect();
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

fn may_go(item: &CacheItem, limits: &PruneLimits) -> bool {
    match item.kind {
        CacheItemKind::Engine { .. } => limits.engines,
        CacheItemKind::Snapshot { .. } => limits.snapshots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::snapshot::SnapshotParts;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn item(name: &str, disk_bytes: u64, used_at: SystemTime, is_in_use: bool) -> CacheItem {
        let kind = if name.starts_with('s') {
            CacheItemKind::Snapshot { key: SnapshotParts::default().with("name", name).key() }
        } else {
            CacheItemKind::Engine { folder: name.into() }
        };
        CacheItem { kind, name: name.to_owned(), disk_bytes, used_at, is_in_use }
    }

    fn names(limits: PruneLimits) -> Vec<String> {
        let now = SystemTime::now();
        let items = vec![
            item("engine new", 10, now, false),
            item("engine old", 20, now - 40 * DAY, false),
            item("snapshot", 30, now - 20 * DAY, false),
            item("snapshot in use", 40, now - 90 * DAY, true),
        ];
        beyond(items, &limits, now).into_iter().map(|item| item.name).collect()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_what_is_in_use_stays() {
        let all = PruneLimits { engines: true, snapshots: true, unused_for: None, keep_bytes: None };
        assert!(names(all).is_empty());
        assert_eq!(names(PruneLimits { unused_for: Some(30 * DAY), ..all }), ["engine old"]);
        assert_eq!(names(PruneLimits { keep_bytes: Some(85), ..all }), ["engine old"]);
        assert_eq!(names(PruneLimits { keep_bytes: Some(60), ..all }), ["engine old", "snapshot"]);
        let both = PruneLimits { unused_for: Some(10 * DAY), keep_bytes: Some(0), ..all };
        assert_eq!(names(both), ["engine old", "snapshot", "engine new"]);
        let engines = PruneLimits { snapshots: false, keep_bytes: Some(10), ..all };
        assert_eq!(names(engines), ["engine old"]);
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
            PruneLimits { engines: true, snapshots: true, unused_for: None, keep_bytes: Some(0) };

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
