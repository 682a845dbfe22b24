//! Creates, locks, measures and removes folders.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use cap_std::fs::Dir;
use dyno_host::Account;
use rustix::process::{getegid, geteuid};

use crate::machine::path_error::{At as _, PathError};

/// Creates a folder and its parents.
///
/// Fails if other users can put something into the folder, because Dyno runs programs from it and removes leftovers
/// of dead processes there, perhaps as root.
pub(crate) fn create(folder: &Path) -> Result<(), PathError> {
    fs::create_dir_all(folder).at("create", folder)?;
    if !is_ours(folder) {
        return Err(io::Error::other("it belongs to somebody else")).at("use", folder);
    }
    let folder = folder.canonicalize().at("open", folder)?;
    match folder.ancestors().find(|folder| others_write(folder)) {
        Some(open) => Err(io::Error::other("others can write to it; chmod go-w helps")).at("use", open),
        None => Ok(()),
    }
}

/// Creates a folder that only this user can read and write.
pub(crate) fn create_private(folder: &Path) -> Result<(), PathError> {
    DirBuilder::new().mode(0o700).create(folder).at("create", folder)
}

/// Creates a folder that only a server can read and write.
pub(crate) fn create_for_server(folder: &Path) -> Result<(), PathError> {
    create_private(folder)?;
    give_to_server(folder)
}

/// Removes the files of a folder that belongs to a server. Links are not followed, because the server's account may
/// have replaced the folder by a link or put links into it.
pub(crate) fn clear_of_server(folder: &Path) -> Result<(), PathError> {
    let open = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(folder);
    let open = open.at("open", folder)?;
    let owner = open.metadata().at("look at", folder)?.uid();
    if owner != server_account() {
        return Err(io::Error::other("it belongs to somebody else")).at("clear", folder);
    }
    let open = Dir::from_std_file(open);
    for item in open.entries().at("read", folder)? {
        let name = item.at("read", folder)?.file_name();
        open.remove_file(&name).at("remove", &folder.join(name))?;
    }
    Ok(())
}

/// Reads a small text file of a server. `None` if it does not exist or is not a file.
pub(crate) fn read_text_of_server(path: &Path) -> Option<String> {
    const BYTES_MAX: u64 = 64 * 1024;
    let file = open_file_of_server(path).ok()?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| io::read_to_string(file.take(BYTES_MAX)).ok()).flatten()
}

/// Opens a file in a server's folder. Fails if it is a link. Does not wait if it is a pipe.
fn open_file_of_server(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// Gives a file or folder to the account that servers run as.
pub(crate) fn give_to_server(path: &Path) -> Result<(), PathError> {
    Account::instead_of_root().map_or(Ok(()), |account| account.own(path)).at("give away", path)
}

/// Whether this user owns a file or folder. For a link, the owner of the link itself counts.
pub(crate) fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() == geteuid().as_raw())
}

/// Whether a file or folder belongs to the account that servers run as. For a link, the owner of the link itself
/// counts.
pub(crate) fn is_of_server(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() == server_account())
}

/// The id of the user that servers run as.
pub(crate) fn server_account() -> u32 {
    Account::instead_of_root().map_or(geteuid().as_raw(), Account::number)
}

/// Whether other users may rename files in a folder. In a sticky folder, such as `/tmp`, they may not.
fn others_write(folder: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    fs::metadata(folder).is_ok_and(|metadata| {
        let own_group = metadata.gid() == getegid().as_raw();
        let others = if own_group { 0o002 } else { 0o022 };
        metadata.mode() & others != 0 && metadata.mode() & STICKY == 0
    })
}

/// Reads those files of a server's folder whose names begin with `prefix` into the page cache. Skips files that this
/// user may not read, and anything that is not a regular file.
pub(crate) fn read_files(folder: &Path, prefix: &str) -> Result<(), PathError> {
    for entry in fs::read_dir(folder).at("read", folder)? {
        let entry = entry.at("read", folder)?;
        let is_wanted = entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes());
        if is_wanted && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            match read_file(&path) {
                Err(error) if error.kind() != ErrorKind::PermissionDenied => {
                    return Err(error).at("read", &path);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Reads a file to its end. Fails if it is a link.
fn read_file(path: &Path) -> io::Result<u64> {
    io::copy(&mut open_file_of_server(path)?, &mut io::sink())
}

/// Removes a folder with its content. Succeeds if the folder is missing.
pub(crate) fn remove(folder: &Path) -> Result<(), PathError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).at("remove", folder),
        _ => Ok(()),
    }
}

/// Waits for the lock on a file. The lock lasts until the returned file is dropped or the process dies.
pub(crate) fn lock(path: &Path) -> Result<File, PathError> {
    loop {
        let file = open_lock(path)?;
        file.lock().at("lock", path)?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// Like [`lock`], but returns `None` if another process has the lock.
pub(crate) fn lock_if_free(path: &Path) -> Result<Option<File>, PathError> {
    let file = open_lock(path)?;
    let has_lock = file.try_lock().is_ok() && is_at(&file, path);
    Ok(has_lock.then_some(file))
}

/// Whether an open file is still the file at a path. If the file was removed meanwhile, another process can create and
/// lock a new file at that path, so a lock on the old file is worthless.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

/// Creates a folder and waits for the lock on it.
pub(crate) fn lock_folder(folder: &Path) -> Result<File, PathError> {
    create(folder)?;
    let file = File::open(folder).at("open", folder)?;
    file.lock().at("lock", folder)?;
    Ok(file)
}

/// Opens a file to lock. Creates it and its parents if missing.
pub(crate) fn open_lock(path: &Path) -> Result<File, PathError> {
    if let Some(parent) = path.parent() {
        create(parent)?;
    }
    File::options().create(true).truncate(false).write(true).mode(0o600).open(path).at("open", path)
}

/// Sets a file's modification time to now, to record a use. Errors are ignored, because their only effect is that lists
/// show an outdated time of the last use.
pub(crate) fn touch(path: &Path) {
    let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Size of the files below a folder, in bytes. 0 if the folder does not exist.
pub(crate) fn file_bytes(folder: &Path) -> u64 {
    sum(folder, &|metadata| metadata.len())
}

/// Disk space of a folder in bytes, without holes in files.
pub(crate) fn allocated_bytes(folder: &Path) -> u64 {
    // stat(2): st_blocks is in units of 512 bytes.
    sum(folder, &|metadata| metadata.blocks() * 512)
}

/// Sums a size over all files below a path. Files may vanish meanwhile, so errors are ignored.
fn sum(path: &Path, size: &dyn Fn(&fs::Metadata) -> u64) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return size(&metadata);
    }
    let Ok(items) = fs::read_dir(path) else { return 0 };
    items.flatten().map(|item| sum(&item.path(), size)).sum()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_hole_in_a_file_takes_no_disk() {
        let folder = tempfile::tempdir().unwrap();
        create(&folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/full"), vec![1; 10_000]).unwrap();
        File::create(folder.path().join("a/hole")).unwrap().set_len(1 << 20).unwrap();
        assert_eq!(file_bytes(folder.path()), 10_000 + (1 << 20));
        let taken = allocated_bytes(folder.path());
        assert!((10_000..100_000).contains(&taken), "{taken}");
        assert_eq!(file_bytes(&folder.path().join("missing")), 0);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        let open = parent.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        for folder in [open.clone(), open.join("a/b")] {
            let error = create(&folder).unwrap_err().to_string();
            assert!(
                error.contains(&open.display().to_string()) && error.contains("others can write"),
                "{error}"
            );
        }
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        create(&open.join("c")).unwrap();
    }

    #[test]
    fn what_a_link_of_a_server_leads_to_stays() {
        let parent = tempfile::tempdir().unwrap();
        let [precious, own, link, pipe] =
            ["precious", "own", "link", "pipe"].map(|name| parent.path().join(name));
        create_for_server(&own).unwrap();
        for path in [precious.clone(), precious.join("file"), own.join("socket")] {
            if path == precious { fs::create_dir(path) } else { fs::write(path, "text") }.unwrap();
        }
        symlink(precious.join("file"), own.join("link")).unwrap();
        clear_of_server(&own).unwrap();
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);

        symlink(&precious, &link).unwrap();
        clear_of_server(&link).unwrap_err();
        if Account::instead_of_root().is_some() {
            clear_of_server(&precious).unwrap_err();
        }
        assert!(precious.join("file").is_file());

        assert_eq!(read_text_of_server(&precious.join("file")).as_deref(), Some("text"));
        symlink(precious.join("file"), own.join("link")).unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        for path in [own.join("link"), pipe, precious] {
            assert_eq!(read_text_of_server(&path), None, "{}", path.display());
        }
    }

    #[test]
    fn the_lock_of_a_removed_file_excludes_nobody_and_is_taken_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let removed = lock(&path).unwrap();
        assert!(lock_if_free(&path).unwrap().is_none());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock(&path).unwrap());
            fs::remove_file(&path).unwrap();
            drop(removed);
            assert!(is_at(&waiting.join().unwrap(), &path));
        });
        drop(lock(&path).unwrap());
    }

    #[test]
    fn removing_what_is_not_there_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        remove(&folder.path().join("missing")).unwrap();
    }
}
