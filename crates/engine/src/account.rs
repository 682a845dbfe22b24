//! The account of servers that refuse to run as root.

use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use rustix::process::geteuid;
use rustix::thread::{self, CapabilitiesSecureBits, CapabilitySet, Gid, Uid};

/// The kernel's overflow user, `nobody`, which owns nothing that a server could harm.
const NOBODY: u32 = 65534;

/// An account that owns nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    id: u32,
}

impl Account {
    /// The account to switch to from root; none if this process is not root.
    pub(crate) fn instead_of_root() -> Option<Self> {
        geteuid().is_root().then_some(Self { id: NOBODY })
    }

    /// Whether a file or folder belongs to this account, itself rather than what it links to.
    pub(crate) fn owns(self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == self.id)
    }

    /// Gives a file or folder to this account.
    pub(crate) fn own(self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.id), Some(self.id))
    }

    /// Switches the calling process to this account. It keeps one right of root, to pass through folders,
    /// since a cache below `/root` could not be reached otherwise. Without that right, the cache
    /// must be in a folder that everyone can enter.
    pub(crate) fn assume(self) -> io::Result<()> {
        let keep = CapabilitySet::DAC_OVERRIDE;
        let mut sets = thread::capabilities(None)?;
        let kept = sets.permitted & keep;
        if sets.permitted.contains(CapabilitySet::SETPCAP) {
            // Otherwise access(2), by which initdb checks its programs, would ignore the right.
            thread::set_capabilities_secure_bits(CapabilitiesSecureBits::NO_SETUID_FIXUP)?;
        }
        thread::set_thread_groups(&[])?;
        thread::set_thread_gid(Gid::from_raw(self.id))?;
        thread::set_keep_capabilities(true)?;
        thread::set_thread_uid(Uid::from_raw(self.id))?;
        (sets.permitted, sets.effective, sets.inheritable) = (kept, kept, kept);
        thread::set_capabilities(None, sets)?;
        if !kept.is_empty() {
            thread::configure_capability_in_ambient_set(keep, true)?;
        }
        Ok(())
    }
}
