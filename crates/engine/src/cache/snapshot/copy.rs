//! Copies folders. If the file system can share blocks, files are cloned. Otherwise their bytes are copied, and
//! holes stay holes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use dyno_host::Account;
use rustix::fs::{
    Advice, AtFlags, Gid, Mode, OFlags, SeekFrom, Uid, chownat, copy_file_range, fadvise, fchmod, fchown,
    ioctl_ficlone, openat, seek, syncfs,
};
use rustix::io::Errno;

use crate::machine::path_error::{At as _, PathError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: u64,
    /// Apparent size of the files in bytes, holes included.
    pub bytes: u64,
    /// Total size in bytes of those files that share blocks with the original (reflink). It is a part of `bytes`.
    pub reflinked_bytes: u64,
}

const BUFFER_BYTES: u64 = 1 << 20;

/// Copies a folder with modes, holes and links. The copy must not exist yet. Sockets, pipes, and the setuid, setgid and
/// sticky bits are not copied.
///
/// The copy belongs to this process's user, or to `owner`. The folder may belong to a server that wants to misuse
/// this user's rights. So links are not followed, and modes and owners of files and folders are set through open
/// descriptors, not through paths.
pub(crate) fn copy_folder(from: &Path, to: &Path, owner: Option<Account>) -> Result<Copied, PathError> {
    let source = open_folder(from).at("open", from)?;
    fs::create_dir(to).at("create", to)?;
    let target = open_folder(to).at("open", to)?;
    let mut copied = Copied::default();
    let mut copy = Copy { owner, copied: &mut copied };
    copy.content(&source, &target, from)?;
    Ok(copied)
}

fn open_folder(path: &Path) -> io::Result<Dir> {
    let folder = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(path)?;
    Ok(Dir::from_std_file(folder))
}

fn open_folder_in(folder: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::from_std_file(openat(folder, name, flags, Mode::empty())?.into()))
}

/// A copy that is being made.
struct Copy<'a> {
    owner: Option<Account>,
    copied: &'a mut Copied,
}

impl Copy<'_> {
    /// Copies the content of a folder, then gives the copy its owner and mode. `path` is for messages.
    fn content(&mut self, from: &Dir, to: &Dir, path: &Path) -> Result<(), PathError> {
        for item in from.entries().at("read", path)? {
            let name = item.at("read", path)?.file_name();
            self.item(&name, from, to, &path.join(&name))?;
        }
        let mode = from.dir_metadata().at("look at", path)?.permissions().mode();
        self.take_on(to, mode).at("give away", path)
    }

    fn item(&mut self, name: &OsStr, from: &Dir, to: &Dir, path: &Path) -> Result<(), PathError> {
        let kind = from.symlink_metadata(name).at("look at", path)?.file_type();
        if kind.is_dir() {
            let source = open_folder_in(from, name).at("open", path)?;
            to.create_dir(name).at("create", path)?;
            let target = open_folder_in(to, name).at("open", path)?;
            self.content(&source, &target, path)
        } else if kind.is_symlink() {
            let target = from.read_link_contents(name).at("read", path)?;
            to.symlink_contents(target, name).at("create", path)?;
            let owner = self.owner.map(Account::number);
            let (user, group) = (owner.map(Uid::from_raw), owner.map(Gid::from_raw));
            chownat(to, name, user, group, AtFlags::SYMLINK_NOFOLLOW)
                .map_err(Into::into)
                .at("give away", path)
        } else if kind.is_file() {
            self.file(name, from, to, path)
        } else {
            Ok(())
        }
    }

    fn file(&mut self, name: &OsStr, from: &Dir, to: &Dir, path: &Path) -> Result<(), PathError> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let source = from.open_with(name, &options).at("open", path)?.into_std();
        let metadata = source.metadata().at("look at", path)?;
        let target = to.open_with(name, OpenOptions::new().write(true).create_new(true));
        let target = target.at("create", path)?.into_std();
        self.copied.files += 1;
        self.copied.bytes += metadata.len();
        if copy_file(&source, &target, metadata.len(), path)? {
            self.copied.reflinked_bytes += metadata.len();
        }
        self.take_on(&target, metadata.mode()).at("give away", path)
    }

    /// Sets owner and mode of an open file. The mode is set last, because a change of owner clears some of the
    /// mode's bits.
    fn take_on(&self, target: impl AsFd, mode: u32) -> io::Result<()> {
        if let Some(account) = self.owner {
            let number = account.number();
            fchown(&target, Some(Uid::from_raw(number)), Some(Gid::from_raw(number)))?;
        }
        // The setuid and setgid bits are dropped. Otherwise a program that the server wrote into the folder could run
        // with the rights of the user who owns the copy.
        Ok(fchmod(&target, Mode::from_raw_mode(mode & 0o777))?)
    }
}

/// Copies a file, as a clone if possible. Returns whether it is a clone.
fn copy_file(source: &File, target: &File, bytes: u64, path: &Path) -> Result<bool, PathError> {
    if bytes == 0 || ioctl_ficlone(target, source).is_ok() {
        return Ok(bytes > 0);
    }
    target.set_len(bytes).at("write the copy of", path)?;
    let mut at = 0;
    while let Some((start, end)) = next_data(source, at, bytes).at("read", path)? {
        copy_range(source, target, start, end).at("write the copy of", path)?;
        at = end;
    }
    Ok(false)
}

/// The next range of a file that contains data (lseek(2), `SEEK_DATA`).
fn next_data(file: &File, at: u64, bytes: u64) -> std::io::Result<Option<(u64, u64)>> {
    if at >= bytes {
        return Ok(None);
    }
    match seek(file, SeekFrom::Data(at)) {
        Ok(start) => Ok(Some((start, seek(file, SeekFrom::Hole(start))?.min(bytes)))),
        // The rest of the file is a hole.
        Err(Errno::NXIO) => Ok(None),
        // The file system does not report holes.
        Err(Errno::INVAL) => Ok(Some((at, bytes))),
        Err(error) => Err(error.into()),
    }
}

/// Copies inside the kernel if possible, otherwise through a buffer.
fn copy_range(source: &File, target: &File, mut start: u64, end: u64) -> std::io::Result<()> {
    while start < end {
        let (mut from, mut to) = (start, start);
        let length = usize::try_from(end - start).unwrap_or(usize::MAX);
        match copy_file_range(source, Some(&mut from), target, Some(&mut to), length) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(copied_bytes) => start += copied_bytes as u64,
            Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::PERM) => {
                return copy_through_buffer(source, target, start, end);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn copy_through_buffer(source: &File, target: &File, mut start: u64, end: u64) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES.min(end - start) as usize];
    while start < end {
        let length = BUFFER_BYTES.min(end - start) as usize;
        source.read_exact_at(&mut buffer[..length], start)?;
        target.write_all_at(&buffer[..length], start)?;
        start += length as u64;
    }
    Ok(())
}

/// Syncs the file system of a path in one call. A call for each file would wait for one file after the other.
pub(super) fn sync(path: &Path) -> Result<(), PathError> {
    let folder = File::open(path).at("open", path)?;
    syncfs(&folder).map_err(Into::into).at("sync", path)
}

/// Syncs, then drops the files of a folder from the page cache. So the next measurement neither waits for this copy nor
/// profits from it.
pub(super) fn settle(folder: &Path) -> Result<(), PathError> {
    sync(folder)?;
    forget(folder)
}

fn forget(path: &Path) -> Result<(), PathError> {
    forget_content(&open_folder(path).at("open", path)?).at("read", path)
}

fn forget_content(folder: &Dir) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    for item in folder.entries()? {
        let item = item?;
        let kind = item.file_type()?;
        if kind.is_dir() {
            forget_content(&open_folder_in(folder, &item.file_name())?)?;
        } else if kind.is_file() {
            fadvise(folder.open_with(item.file_name(), &options)?, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::machine::folder;

    #[test]
    fn a_copy_has_everything_and_its_holes() {
        let parent = tempfile::tempdir().unwrap();
        let (from, to) = (parent.path().join("from"), parent.path().join("to"));
        fs::create_dir_all(from.join("a/empty")).unwrap();
        fs::write(from.join("a/rows"), vec![7; 3_000_000]).unwrap();
        fs::set_permissions(from.join("a/rows"), Permissions::from_mode(0o640)).unwrap();
        fs::set_permissions(from.join("a"), Permissions::from_mode(0o500)).unwrap();
        symlink("a/rows", from.join("link")).unwrap();
        let sparse = File::create(from.join("sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        sparse.write_all_at(b"middle", 1 << 29).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(from.join("socket")).unwrap();

        let copied = copy_folder(&from, &to, None).unwrap();
        settle(&to).unwrap();

        assert_eq!(copied.files, 2);
        assert_eq!(copied.bytes, 3_000_000 + (1 << 30));
        assert_eq!(fs::read(to.join("a/rows")).unwrap(), vec![7; 3_000_000]);
        assert_eq!(fs::metadata(to.join("a/rows")).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::metadata(to.join("a")).unwrap().mode() & 0o7777, 0o500);
        assert!(to.join("a/empty").is_dir());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("a/rows"));
        let mut middle = [0; 6];
        File::open(to.join("sparse")).unwrap().read_exact_at(&mut middle, 1 << 29).unwrap();
        assert_eq!(&middle, b"middle");
        assert!(folder::allocated_bytes(&to) < 20_000_000, "the hole was filled");
        assert!(!to.join("socket").exists());
    }

    #[test]
    fn bytes_go_through_a_buffer_where_the_kernel_will_not_copy() {
        let parent = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..2_500_000_u32).map(|number| (number % 251) as u8).collect();
        fs::write(parent.path().join("from"), &bytes).unwrap();
        let source = File::open(parent.path().join("from")).unwrap();
        let target = File::create_new(parent.path().join("to")).unwrap();
        copy_through_buffer(&source, &target, 0, bytes.len() as u64).unwrap();
        assert_eq!(fs::read(parent.path().join("to")).unwrap(), bytes);
    }

    #[test]
    fn a_copy_runs_as_nobody_else_and_a_folder_behind_a_link_is_not_copied() {
        let parent = tempfile::tempdir().unwrap();
        let (from, to) = (parent.path().join("from"), parent.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("program"), "").unwrap();
        fs::set_permissions(from.join("program"), Permissions::from_mode(0o6755)).unwrap();
        copy_folder(&from, &to, None).unwrap();
        assert_eq!(fs::metadata(to.join("program")).unwrap().mode() & 0o7777, 0o755);

        symlink(&from, parent.path().join("link")).unwrap();
        copy_folder(&parent.path().join("link"), &parent.path().join("other"), None).unwrap_err();
        settle(&parent.path().join("link")).unwrap_err();
        assert!(!parent.path().join("other").exists());
    }
}
