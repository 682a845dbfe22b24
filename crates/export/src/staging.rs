//! A folder for incomplete files. Its lock shows whether its process is alive. When a folder is next made in the
//! same place, those of killed processes are removed.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat};
use rustix::io::Errno;
use tempfile::TempDir;

/// The prefix of the names of such folders, and the number of random letters and digits after it.
const PREFIX: &str = ".dyno-export-";
const RANDOM_LETTERS: usize = 6;

/// The folder. Dropping this removes it with all files in it.
pub(crate) struct Staging {
    folder: TempDir,
    /// Holds the lock.
    _lock: File,
}

impl Staging {
    /// Makes the folder inside another one, and removes folders that killed processes left there.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        // A folder that can be written but not listed is not searched for such folders.
        let _ = remove_leftovers(parent);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .rand_bytes(RANDOM_LETTERS)
                // The permissions of a new folder, without those of the user's umask. It may become the folder of
                // the export.
                .permissions(Permissions::from_mode(0o777))
                .tempdir_in(parent)?;
            let lock = File::open(folder.path())?;
            flock(&lock, FlockOperation::LockExclusive)?;
            // Another process may have removed it as a leftover before it was locked.
            if folder.path().exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its final name. Nothing, or an empty folder, may have that name.
    pub(crate) fn publish(self, name: &Path) -> io::Result<()> {
        fs::rename(self.folder.path(), name)?;
        // Nothing is left to remove.
        let _ = self.folder.keep();
        Ok(())
    }
}

/// Removes the folders of killed processes inside another one. Those that cannot be removed stay.
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

/// Removes a folder of an account with its files, unless it is locked. It never follows a link, because all
/// operations are relative to open folders.
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
    // Its process may have given it its final name before it was locked here.
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
        // A killed process drops nothing, but it loses its lock.
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
