//! Copies folders: as clones if the file system shares blocks, otherwise byte by byte without holes.

use std::fs::{self, File, Metadata, Permissions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use dyno_host::Account;
use rustix::fs::{Advice, SeekFrom, copy_file_range, fadvise, ioctl_ficlone, seek, syncfs};
use rustix::io::Errno;

use crate::path_error::{At as _, PathError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: u64,
    /// Bytes that the files seem to have, holes included.
    pub bytes: u64,
    /// Those of them that share blocks with the original by reflink.
    pub reflinked_bytes: u64,
}

const BUFFER_BYTES: u64 = 1 << 20;

/// Copies a folder to one that does not exist, with modes, holes and links. Sockets and pipes are left out.
///
/// The copy belongs to this process's user, or to `owner`.
pub(crate) fn copy_folder(from: &Path, to: &Path, owner: Option<Account>) -> Result<Copied, PathError> {
    let mut copied = Copied::default();
    copy_item(from, to, owner, &mut copied)?;
    Ok(copied)
}

fn copy_item(from: &Path, to: &Path, owner: Option<Account>, copied: &mut Copied) -> Result<(), PathError> {
    let metadata = fs::symlink_metadata(from).at("look at", from)?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        fs::create_dir(to).at("create", to)?;
        for item in fs::read_dir(from).at("read", from)? {
            let name = item.at("read", from)?.file_name();
            copy_item(&from.join(&name), &to.join(&name), owner, copied)?;
        }
    } else if kind.is_symlink() {
        symlink(fs::read_link(from).at("read", from)?, to).at("create", to)?;
    } else if kind.is_file() {
        copied.files += 1;
        copied.bytes += metadata.len();
        if copy_file(from, to, metadata.len())? {
            copied.reflinked_bytes += metadata.len();
        }
    } else {
        return Ok(());
    }
    take_on(to, &metadata, owner).at("give away", to)
}

/// Sets owner and mode, the mode last, since a change of owner clears some of its bits.
fn take_on(path: &Path, original: &Metadata, owner: Option<Account>) -> std::io::Result<()> {
    if let Some(owner) = owner {
        owner.own(path)?;
    }
    if original.is_symlink() {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(original.mode() & 0o7777))
}

/// Copies a file as a clone if possible. Returns whether it is one.
fn copy_file(from: &Path, to: &Path, bytes: u64) -> Result<bool, PathError> {
    // The folder is a server's, which must not have this user read another file for it.
    let source = File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(from).at("open", from)?;
    let target = File::options().write(true).create_new(true).open(to).at("create", to)?;
    if bytes == 0 || ioctl_ficlone(&target, &source).is_ok() {
        return Ok(bytes > 0);
    }
    target.set_len(bytes).at("write", to)?;
    let mut at = 0;
    while let Some((start, end)) = next_data(&source, at, bytes).at("read", from)? {
        copy_range(&source, &target, start, end).at("write", to)?;
        at = end;
    }
    Ok(false)
}

/// The next range of a file that is no hole (lseek(2), `SEEK_DATA`).
fn next_data(file: &File, at: u64, bytes: u64) -> std::io::Result<Option<(u64, u64)>> {
    if at >= bytes {
        return Ok(None);
    }
    match seek(file, SeekFrom::Data(at)) {
        Ok(start) => Ok(Some((start, seek(file, SeekFrom::Hole(start))?.min(bytes)))),
        // Only holes from here on.
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

/// Syncs the file system of a path: one call, where a call for each file would
/// wait for each in turn.
pub(super) fn sync(path: &Path) -> Result<(), PathError> {
    let folder = File::open(path).at("open", path)?;
    syncfs(&folder).map_err(Into::into).at("sync", path)
}

/// Syncs, then drops the files of a folder from the page cache: what is measured next must neither wait
/// for this copy nor profit from it.
pub(super) fn settle(folder: &Path) -> Result<(), PathError> {
    sync(folder)?;
    forget(folder)
}

fn forget(path: &Path) -> Result<(), PathError> {
    let kind = fs::symlink_metadata(path).at("look at", path)?.file_type();
    if kind.is_dir() {
        for item in fs::read_dir(path).at("read", path)? {
            forget(&item.at("read", path)?.path())?;
        }
    } else if kind.is_file() {
        let file = File::open(path).at("open", path)?;
        fadvise(&file, 0, None, Advice::DontNeed).map_err(Into::into).at("read", path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder;

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
}
