//! A separate view of the file system for one process. In the view, closed folders are replaced by empty ones that
//! contain only what the process needs.
//!
//! Root's programs and data are often below `/root`, which other accounts cannot enter. The right to pass through
//! closed folders (`CAP_DAC_READ_SEARCH`) would include the right to read all files. With a view, a process does
//! not need this right.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf, absolute};

use rustix::fs::{CWD, Mode, mkdir};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};
use rustix::process::umask;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::{Account, FenceError};

/// Options of the empty folders' file system: everyone may enter, only root may write, and it is very small.
const EMPTY: &CStr = c"mode=755,size=1m";

/// A view of the file system, which a process can enter.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Closed folders, which the view replaces by empty ones.
    closed: Vec<CString>,
    shown: Vec<Shown>,
}

/// A folder that is below a closed one and stays visible.
#[derive(Debug)]
struct Shown {
    path: CString,
    /// The folders between the closed folder and the shown folder, from the top.
    way: Vec<CString>,
    tree: Option<OwnedFd>,
}

impl View {
    /// The view in which an account reaches some folders. If no folder on the way to them is closed, this is the
    /// ordinary view.
    pub(super) fn of(account: Account, needed: &[&Path]) -> Result<Self, FenceError> {
        let mut paths = BTreeSet::new();
        for &folder in needed {
            let unreadable = |source| FenceError::Unreadable { path: folder.to_owned(), source };
            paths.insert(folder.canonicalize().map_err(unreadable)?);
            // The path as the caller gives it may contain links. Programs use this path, so it must be reachable too.
            paths.insert(absolute(folder).map_err(unreadable)?);
        }
        let mut view = Self::default();
        let mut last: Option<&Path> = None;
        // The set is sorted, so a folder comes before the folders below it.
        for path in &paths {
            let Some(closed) = first_closed(account, path) else { continue };
            if last.is_some_and(|last| path.starts_with(last)) {
                continue;
            }
            last = Some(path);
            let mut way: Vec<_> = path.ancestors().skip(1).take_while(|above| *above != closed).collect();
            way.reverse();
            let way = way.into_iter().map(c_string).collect();
            view.shown.push(Shown { path: c_string(path), way, tree: None });
            let closed = c_string(&closed);
            if !view.closed.contains(&closed) {
                view.closed.push(closed);
            }
        }
        Ok(view)
    }

    /// One of the folders that the view replaces; `None` for the ordinary view.
    pub(super) fn closed(&self) -> Option<PathBuf> {
        let path = self.closed.first()?;
        Some(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
    }

    /// Gives the calling process this view. Makes system calls only.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        if self.closed.is_empty() {
            return Ok(());
        }
        // SAFETY: this unshares the mount namespace only, not the file descriptors.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        // From here on, mounts in this namespace do not appear in the parent's namespace. The parent's mounts and
        // unmounts still appear here.
        mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        for shown in &mut self.shown {
            shown.tree = Some(open_tree(CWD, shown.path.as_c_str(), flags)?);
        }
        for closed in &self.closed {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount(c"tmpfs", closed.as_c_str(), c"tmpfs", flags, EMPTY)?;
        }
        let usual = umask(Mode::from_raw_mode(0o022));
        let outcome = self.shown.iter_mut().try_for_each(Shown::place);
        umask(usual);
        outcome
    }
}

impl Shown {
    /// Mounts the folder at its original path.
    fn place(&mut self) -> io::Result<()> {
        let Some(tree) = self.tree.take() else { return Ok(()) };
        for folder in self.way.iter().chain([&self.path]) {
            match mkdir(folder.as_c_str(), Mode::from_raw_mode(0o755)) {
                Err(Errno::EXIST) => {}
                outcome => outcome?,
            }
        }
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(&tree, c"", CWD, self.path.as_c_str(), flags)?)
    }
}

/// Looks at the folders on the way to a path, from the top. Returns the first one that an account cannot enter.
pub(super) fn first_closed(account: Account, path: &Path) -> Option<PathBuf> {
    let mut way: Vec<_> = path.ancestors().skip(1).collect();
    way.reverse();
    let is_closed = |folder: &&Path| folder.metadata().is_ok_and(|it| !account.can_enter(&it));
    way.into_iter().find(is_closed).map(Path::to_owned)
}

/// Converts a path to a C string. Paths of existing files contain no NUL.
fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn the_topmost_closed_folder_is_replaced_and_what_is_needed_shown_once() {
        let top = tempfile::tempdir().unwrap();
        let (closed, needed) = (top.path().join("closed"), top.path().join("closed/a/needed"));
        create_dir_all(needed.join("below")).unwrap();
        create_dir_all(top.path().join("open")).unwrap();
        let account = Account::nobody();
        let view = |needed: &[&Path]| {
            let view = View::of(account, needed).unwrap();
            let paths = view.shown.iter().map(|shown| (shown.path.clone(), shown.way.clone()));
            (view.closed.clone(), paths.collect::<Vec<_>>())
        };
        for folder in [top.path(), &needed, &closed.join("a")] {
            set_permissions(folder, Permissions::from_mode(0o711)).unwrap();
        }
        set_permissions(&closed, Permissions::from_mode(0o711)).unwrap();
        assert_eq!(view(&[&needed]), (vec![], vec![]));

        for folder in [&closed, &closed.join("a")] {
            set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
        }
        let shown = (c_string(&needed), vec![c_string(&closed.join("a"))]);
        let whole = (vec![c_string(&closed)], vec![shown]);
        assert_eq!(view(&[&needed.join("below"), &top.path().join("open"), &needed]), whole);

        // The link is open to all, but its target is not.
        symlink(&needed, top.path().join("open/link")).unwrap();
        assert_eq!(view(&[&top.path().join("open/link")]), whole);
    }

    #[test]
    fn an_account_reaches_what_it_may_read_at_the_end_of_an_open_way() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join("a/file");
        create_dir_all(top.path().join("a")).unwrap();
        std::fs::write(&file, "").unwrap();
        let reaches = |folder_mode, file_mode| {
            set_permissions(top.path(), Permissions::from_mode(folder_mode)).unwrap();
            set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
            Account::nobody().can_reach(&file)
        };
        assert!(reaches(0o711, 0o604));
        assert!(!reaches(0o700, 0o604));
        assert!(!reaches(0o711, 0o600));
        assert!(!Account::nobody().can_reach(&top.path().join("missing")));
    }
}
