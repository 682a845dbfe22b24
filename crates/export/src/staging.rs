//! A folder for incomplete files. The process that made the folder holds a lock on it for as long as the process lives.
//! When such a folder is made, the folders that killed processes left in the same parent folder are removed.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat};
use rustix::io::Errno;
use tempfile::TempDir;

/// The prefix of the folder's name, and the number of random letters and digits after the prefix.
const PREFIX: &str = ".dyno-export-";
const RANDOM_LETTERS: usize = 6;

/// A folder for incomplete files. Dropping the value removes the folder with all files in it.
pub(crate) struct Staging {
    folder: TempDir,
    /// The open folder. The lock lasts until this file is closed.
    _lock: File,
}

impl Staging {
    /// Makes the folder inside `parent`, and removes folders of killed processes from `parent`.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        // If the parent folder cannot be listed, folders of killed processes stay. Even then, it may be possible to
        // make a folder in it.
        let _ = remove_leftovers(parent);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM_LETTERS)
                // The permissions that a new folder usually has. The user's umask takes some of them away. They are
                // needed because this folder may become the folder of the export.
                .permissions(Permissions::from_mode(0o777))
                .tempdir_in(parent)?;
            let lock = File::open(folder.path())?;
            flock(&lock, FlockOperation::LockExclusive)?;
            // Before this process locked the folder, another process may have removed it as the folder of a killed
            // process.
            if folder.path().exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its final name. An empty folder with this name is replaced. Anything else with this name is
    /// an error.
    pub(crate) fn publish(self, name: &Path) -> io::Result<()> {
        fs::rename(self.folder.path(), name)?;
        // The folder has another name now, so dropping the value must not remove it.
        let _ = self.folder.keep();
        Ok(())
    }
}

/// Removes folders of killed processes from a folder. A folder that cannot be removed stays.
fn remove_leftovers(parent: &Path) -> io::Result<()> {
    let parent = File::open(parent)?;
    let own = rustix::process::geteuid().as_raw();
    for entry in Dir::read_from(&parent)? {
        let entry = entry?;
        if is_own_name(entry.file_name().to_bytes()) {
            let _ = remove_leftover(&parent, entry.file_name(), own);
        }
    }
    Ok(())
}

fn is_own_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX.as_bytes())
        .is_some_and(|random| random.len() == RANDOM_LETTERS && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Removes a folder with its files, if it belongs to the account `own` and is not locked. Links are never followed,
/// because all operations are relative to open folders.
fn remove_leftover(parent: &File, name: &std::ffi::CStr, own: u32) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(openat(parent, name, flags, Mode::empty())?);
    if folder.metadata()?.uid() != own {
        return Ok(());
    }
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(()),
        locked => locked?,
    }
    // Between the listing and the lock, the process that made the folder may have renamed it to its final name. Then
    // another folder may have the listed name.
    let (named, held) = (statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?, fstat(&folder)?);
    if (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino) {
        return Ok(());
    }
    for entry in Dir::read_from(folder.as_fd())? {
        let entry = entry?;
        if ![c".", c".."].contains(&entry.file_name()) {
            unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
        }
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays() {
        let parent = tempfile::tempdir().unwrap();
        let living = Staging::new(parent.path()).unwrap();
        fs::write(living.path().join("run.csv"), "a").unwrap();
        // Simulates a killed process: its values are not dropped, but its lock ends.
        let Staging { folder, _lock: lock } = Staging::new(parent.path()).unwrap();
        fs::write(folder.path().join("run.csv"), "half").unwrap();
        let left = folder.keep();
        drop(lock);
        let next = Staging::new(parent.path()).unwrap();
        assert!(!left.exists());
        assert!(living.path().join("run.csv").exists());
        drop((living, next));
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn links_are_not_followed_and_what_is_not_ours_stays() {
        let parent = tempfile::tempdir().unwrap();
        let guard = tempfile::tempdir().unwrap();
        fs::write(guard.path().join("precious"), "text").unwrap();
        let at = |name: &str| parent.path().join(name);
        symlink(guard.path(), at(".dyno-export-link00")).unwrap();
        fs::write(at(".dyno-export-file00"), "").unwrap();
        fs::create_dir(at(".dyno-export-left00")).unwrap();
        symlink(guard.path(), at(".dyno-export-left00/folder")).unwrap();
        symlink(guard.path().join("precious"), at(".dyno-export-left00/file")).unwrap();
        fs::create_dir_all(at(".dyno-export-deep00/folder")).unwrap();
        fs::write(at(".dyno-export-deep00/folder/x"), "").unwrap();
        fs::create_dir(at(".dyno-export-my-own")).unwrap();
        fs::write(at(".dyno-export-my-own/precious"), "").unwrap();
        drop(Staging::new(parent.path()).unwrap());
        assert!(at(".dyno-export-my-own/precious").exists());
        assert_eq!(names(guard.path()), ["precious"]);
        assert_eq!(
            names(parent.path()),
            [".dyno-export-deep00", ".dyno-export-file00", ".dyno-export-link00", ".dyno-export-my-own"],
            "only a flat folder is one that an export left"
        );
        assert!(at(".dyno-export-deep00/folder/x").exists());
    }
}
