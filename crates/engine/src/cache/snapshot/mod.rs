//! Loaded data folders, kept for the next run with the same data set on the same system.
//!
//! A snapshot is a folder of the cache. It contains a copy of a data folder, and a [`Manifest`] that lists the copy's
//! content. A snapshot is made under another name and then renamed, so a snapshot is always complete. Users of a
//! snapshot hold a shared lock on its folder. A process that removes a snapshot holds an exclusive lock on it.

mod copy;
mod error;
mod manifest;
mod parts;
mod survey;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use dyno_host::Account;

pub use self::copy::Copied;
pub(crate) use self::copy::copy_folder;
pub use self::error::{Damage, SnapshotError};
use self::manifest::Manifest;
pub use self::parts::{SnapshotKey, SnapshotParts};
use self::survey::{compare, survey};
use crate::cache::location::Cache;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::is_worked_in;
use crate::start::access::random_word;

const DATA: &str = "data";
const PARTIAL: &str = ".partial-";
const TRASH: &str = ".trash-";

/// The snapshots of a cache.
#[derive(Clone, Debug)]
pub struct Snapshots {
    folder: PathBuf,
}

/// A snapshot. It cannot be removed while this value lives.
#[derive(Clone, Debug)]
pub struct Snapshot {
    folder: PathBuf,
    manifest: Arc<Manifest>,
    _lock: Arc<File>,
}

/// The result of a search for a snapshot.
#[derive(Debug)]
pub enum Found {
    /// An intact snapshot.
    Snapshot(Snapshot),
    Nothing,
    /// A damaged snapshot, which was removed.
    Discarded(Damage),
}

/// A snapshot in a list.
#[derive(Clone, Debug)]
pub struct SnapshotSummary {
    pub key: SnapshotKey,
    pub description: String,
    /// Disk space in bytes, including blocks that the snapshot shares with other files by reflink.
    pub disk_bytes: u64,
    /// Time at which the snapshot was last created, found or restored.
    pub used_at: SystemTime,
    /// Whether a process uses the snapshot now.
    pub is_in_use: bool,
}

impl Snapshots {
    /// The snapshots of a cache.
    pub fn of(cache: &Cache) -> Self {
        Self { folder: cache.snapshots() }
    }

    /// Finds the snapshot of a key and verifies every file: name, size, mode, owner, modification time, and a sample of
    /// its content.
    ///
    /// # Errors
    /// The cache cannot be read, or a damaged snapshot cannot be removed.
    pub fn find(&self, key: &SnapshotKey) -> Result<Found, SnapshotError> {
        let folder = self.folder.join(key.as_str());
        let Some(lock) = lock_in_place(&folder)? else { return Ok(Found::Nothing) };
        match Snapshot::open(folder.clone(), lock) {
            Ok(snapshot) => {
                snapshot.note_use();
                Ok(Found::Snapshot(snapshot))
            }
            Err(SnapshotError::Damaged { damage, .. }) => {
                self.throw_away(&folder)?;
                Ok(Found::Discarded(damage))
            }
            Err(error) => Err(error),
        }
    }

    /// Saves a copy of a data folder whose server was shut down cleanly, and drops the data folder from the page cache.
    /// If another process has just saved a snapshot with the same key, returns that snapshot.
    ///
    /// # Errors
    /// A process works in the folder, or the copy cannot be made. A partial copy is removed.
    pub fn save(
        &self,
        parts: &SnapshotParts,
        description: &str,
        data: &Path,
    ) -> Result<Snapshot, SnapshotError> {
        if is_worked_in(data) {
            return Err(SnapshotError::InUse { folder: data.to_owned() });
        }
        let (partial, lock) = self.make_partial()?;
        let made = fill(&partial, parts, description, data).and_then(|manifest| {
            let folder = self.folder.join(manifest.key.as_str());
            Ok(put_in_place(&partial, &folder)?.then_some((folder, manifest)))
        });
        let Ok(Some((folder, manifest))) = made else {
            folder::remove(&partial)?;
            return match made {
                Err(error) => Err(error),
                Ok(_) => self.saved_by_another(&parts.key()),
            };
        };
        lock.lock_shared().at("lock", &folder)?;
        Ok(Snapshot { folder, manifest: Arc::new(manifest), _lock: Arc::new(lock) })
    }

    fn saved_by_another(&self, key: &SnapshotKey) -> Result<Snapshot, SnapshotError> {
        match self.find(key)? {
            Found::Snapshot(snapshot) => Ok(snapshot),
            Found::Discarded(damage) => {
                Err(SnapshotError::Damaged { folder: self.folder.join(key.as_str()), damage })
            }
            Found::Nothing => Err(SnapshotError::Removed { key: key.clone() }),
        }
    }

    /// Creates and locks a folder for a new snapshot. Also removes the unfinished snapshots of killed processes.
    fn make_partial(&self) -> Result<(PathBuf, File), PathError> {
        let _turn = folder::lock_folder(&self.folder)?;
        for item in fs::read_dir(&self.folder).at("read", &self.folder)? {
            let item = item.at("read", &self.folder)?;
            let name = item.file_name().to_string_lossy().into_owned();
            if [PARTIAL, TRASH].iter().any(|prefix| name.starts_with(prefix)) && is_unlocked(&item.path()) {
                folder::remove(&item.path())?;
            }
        }
        let partial = self.unused(PARTIAL)?;
        fs::create_dir(&partial).at("create", &partial)?;
        let lock = folder::lock_folder(&partial)?;
        Ok((partial, lock))
    }

    fn unused(&self, prefix: &str) -> Result<PathBuf, PathError> {
        Ok(self.folder.join(format!("{prefix}{}", random_word().at("read", Path::new("/dev/urandom"))?)))
    }

    /// Returns all snapshots. The most recently used snapshot comes first.
    ///
    /// # Errors
    /// The cache cannot be read.
    pub fn list(&self) -> Result<Vec<SnapshotSummary>, PathError> {
        let items = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            items => items.at("read", &self.folder)?,
        };
        let mut list: Vec<_> =
            items.flatten().filter_map(|item| SnapshotSummary::read(&item.path())).collect();
        list.sort_by_key(|summary| std::cmp::Reverse(summary.used_at));
        Ok(list)
    }

    /// Removes a snapshot. Succeeds if there is none.
    ///
    /// # Errors
    /// Some process uses it, or its files cannot be removed.
    pub fn remove(&self, key: &SnapshotKey) -> Result<(), SnapshotError> {
        let folder = self.folder.join(key.as_str());
        match File::open(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Ok(Err(error).at("open", &folder)?),
            Ok(lock) if lock.try_lock().is_err() => Err(SnapshotError::InUse { folder }),
            Ok(_lock) => Ok(self.throw_away(&folder)?),
        }
    }

    /// Renames a snapshot, then removes it. So a snapshot that is half removed is never found.
    fn throw_away(&self, folder: &Path) -> Result<(), PathError> {
        let trash = self.unused(TRASH)?;
        match fs::rename(folder, &trash) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            renamed => {
                renamed.at("remove", folder)?;
                folder::remove(&trash)
            }
        }
    }
}

impl Snapshot {
    fn open(folder: PathBuf, lock: File) -> Result<Self, SnapshotError> {
        let manifest = match Manifest::read(&folder) {
            Ok(manifest) => Arc::new(manifest),
            Err(damage) => return Err(SnapshotError::Damaged { folder, damage }),
        };
        let snapshot = Self { folder, manifest, _lock: Arc::new(lock) };
        snapshot.verify()?;
        Ok(snapshot)
    }

    pub fn key(&self) -> &SnapshotKey {
        &self.manifest.key
    }

    pub fn description(&self) -> &str {
        &self.manifest.description
    }

    /// Apparent size of the snapshot's files in bytes, holes included.
    pub fn bytes(&self) -> u64 {
        self.manifest.copied().bytes
    }

    /// Restores the data into a folder that does not exist yet. On an error, no folder is left. On success, the
    /// copy is on disk and not in the page cache, so that all starts from a snapshot begin alike.
    ///
    /// # Errors
    /// The snapshot is damaged, or the copy cannot be made.
    pub fn restore(&self, into: &Path) -> Result<Copied, SnapshotError> {
        self.verify()?;
        let mut partial = into.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        folder::remove(&partial)?;
        let copied = copy_folder(&self.data(), &partial, Account::instead_of_root()).and_then(|copied| {
            copy::settle(&partial)?;
            if put_in_place(&partial, into)? { Ok(copied) } else { Err(occupied(into)) }
        });
        if copied.is_err() {
            // An error here is ignored, because the error of the copy is returned.
            let _ = folder::remove(&partial);
        }
        self.note_use();
        Ok(copied?)
    }

    fn data(&self) -> PathBuf {
        self.folder.join(DATA)
    }

    fn verify(&self) -> Result<(), SnapshotError> {
        let damaged = |damage| SnapshotError::Damaged { folder: self.folder.clone(), damage };
        let found = survey(&self.data()).map_err(|error| damaged(Damage::Unreadable(error.to_string())))?;
        compare(&self.manifest.items, &found).map_err(damaged)
    }

    fn note_use(&self) {
        folder::touch(&Manifest::path(&self.folder));
    }
}

impl SnapshotSummary {
    /// Returns `None` if the folder is not a snapshot, or the snapshot is being saved or removed.
    fn read(folder: &Path) -> Option<Self> {
        let name = folder.file_name()?.to_str()?;
        let key = SnapshotKey::parse(name)?;
        let lock = File::open(folder).ok()?;
        let used_at = fs::metadata(Manifest::path(folder)).and_then(|metadata| metadata.modified());
        let description = Manifest::read(folder)
            .map_or_else(|damage| format!("damaged: {damage}"), |manifest| manifest.description);
        Some(Self {
            key,
            description,
            disk_bytes: folder::allocated_bytes(folder),
            used_at: used_at.unwrap_or(SystemTime::UNIX_EPOCH),
            is_in_use: lock.try_lock().is_err(),
        })
    }
}

/// Writes a snapshot into a folder, and syncs it to disk.
fn fill(
    partial: &Path,
    parts: &SnapshotParts,
    description: &str,
    data: &Path,
) -> Result<Manifest, SnapshotError> {
    let copy = partial.join(DATA);
    copy_folder(data, &copy, None)?;
    let manifest = Manifest::new(parts, description, survey(&copy)?);
    manifest.write(partial)?;
    copy::sync(partial)?;
    // The files of restored data are not in the page cache. So the saved data leaves the page cache too, and its server
    // starts like a server on restored data.
    copy::settle(data)?;
    Ok(manifest)
}

/// Renames a folder. Returns false if the new name is taken.
fn put_in_place(partial: &Path, folder: &Path) -> Result<bool, PathError> {
    match fs::rename(partial, folder) {
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
            Ok(false)
        }
        renamed => {
            renamed.at("create", folder)?;
            let parent = folder.parent().unwrap_or(Path::new("/"));
            File::open(parent).and_then(|parent| parent.sync_all()).at("sync", parent)?;
            Ok(true)
        }
    }
}

fn occupied(folder: &Path) -> PathError {
    PathError { action: "create", path: folder.to_owned(), source: ErrorKind::AlreadyExists.into() }
}

/// Takes a shared lock on a folder. Returns `None` if the folder is gone.
fn lock_in_place(folder: &Path) -> Result<Option<File>, PathError> {
    loop {
        let lock = match File::open(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.at("open", folder)?,
        };
        lock.lock_shared().at("lock", folder)?;
        let locked = lock.metadata().at("look at", folder)?;
        // Another process may have removed or replaced the folder while this process waited for the lock.
        if fs::metadata(folder).is_ok_and(|there| (there.dev(), there.ino()) == (locked.dev(), locked.ino()))
        {
            return Ok(Some(lock));
        }
    }
}

fn is_unlocked(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests;
