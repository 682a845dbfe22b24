//! The account for programs that root starts but does not trust.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::Path;

use rustix::thread::{self, CapabilitySet, CapabilitySets, Gid, Uid};

use super::is_root;

/// The kernel's overflow user. It owns nothing that could be harmed.
const NOBODY: u32 = 65534;

/// An account that owns nothing, for programs that are not trusted.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    id: u32,
}

impl Account {
    /// The account's name.
    pub const NAME: &str = "nobody";

    /// The account to use in place of root; `None` if this process is not root.
    pub fn instead_of_root() -> Option<Self> {
        is_root().then(Self::nobody)
    }

    pub(super) fn nobody() -> Self {
        Self { id: NOBODY }
    }

    /// Whether a file or folder belongs to the account. Links are not followed.
    pub fn owns(self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == self.id)
    }

    /// The number of both the user and the group.
    pub fn number(self) -> u32 {
        self.id
    }

    /// Makes the account the owner of a file or folder. Links are not followed.
    ///
    /// # Errors
    /// The system refuses.
    pub fn own(self, path: &Path) -> io::Result<()> {
        lchown(path, Some(self.id), Some(self.id))
    }

    /// Whether the account can read a file or folder and enter all folders on the way to it.
    pub fn can_reach(self, path: &Path) -> bool {
        const READ_BY_OTHERS: u32 = 0o004;
        // An empty path means the current folder here, but the kernel refuses it.
        let Ok(path) = Path::new(".").join(path).canonicalize() else { return false };
        let way = path.ancestors().skip(1);
        let is_readable =
            path.metadata().is_ok_and(|it| it.uid() == self.id || it.mode() & READ_BY_OTHERS != 0);
        is_readable && way.into_iter().all(|folder| folder.metadata().is_ok_and(|it| self.can_enter(&it)))
    }

    /// Whether the account can enter a folder, according to the folder's mode.
    pub(super) fn can_enter(self, folder: &Metadata) -> bool {
        const ENTERED_BY_OWNER: u32 = 0o100;
        const ENTERED_BY_OTHERS: u32 = 0o001;
        let right = if folder.uid() == self.id { ENTERED_BY_OWNER } else { ENTERED_BY_OTHERS };
        folder.mode() & right != 0
    }

    /// Switches the calling thread to the account permanently, without any rights.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn assume(self) -> io::Result<()> {
        self.assume_with(CapabilitySet::empty())
    }

    /// Same as [`assume`](Self::assume), but keeps one right of root, which is to read files that are closed to the
    /// account. Programs that the thread executes do not get this right.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn assume_reading(self) -> io::Result<()> {
        self.assume_with(CapabilitySet::DAC_READ_SEARCH)
    }

    fn assume_with(self, kept: CapabilitySet) -> io::Result<()> {
        let kept = thread::capabilities(None)?.permitted & kept;
        thread::set_thread_groups(&[])?;
        thread::set_thread_gid(Gid::from_raw(self.id))?;
        thread::set_keep_capabilities(!kept.is_empty())?;
        thread::set_thread_uid(Uid::from_raw(self.id))?;
        thread::clear_ambient_capability_set()?;
        let (permitted, effective, inheritable) = (kept, kept, CapabilitySet::empty());
        Ok(thread::set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?)
    }
}
