//! Another account for servers that refuse to run as root.

use std::io;
use std::os::unix::fs::chown;
use std::path::Path;

use rustix::process::geteuid;
use rustix::thread::{self, CapabilitiesSecureBits, CapabilitySet, Gid, Uid};

/// The kernel's overflow user, `nobody` everywhere: it owns nothing that a server could harm.
const NOBODY: u32 = 65534;

/// An account that owns nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    id: u32,
}

impl Account {
    /// The account to give up root for; none where this process is not root.
    pub(crate) fn instead_of_root() -> Option<Self> {
        geteuid().is_root().then_some(Self { id: NOBODY })
    }

    /// Gives a file or folder to this account.
    pub(crate) fn own(self, path: &Path) -> io::Result<()> {
        chown(path, Some(self.id), Some(self.id))
    }

    /// Makes the calling process this account's. The one right of root that it keeps is to pass through folders,
    /// since a cache below `/root` could not be reached otherwise; where that right is not to be had, the cache
    /// must be in a folder that everyone may enter.
    pub(crate) fn assume(self) -> io::Result<()> {
        let keep = CapabilitySet::DAC_OVERRIDE;
        let mut sets = thread::capabilities(None)?;
        let kept = sets.permitted & keep;
        if sets.permitted.contains(CapabilitySet::SETPCAP) {
            // Or access(2), by which initdb looks at its programs, would not count the right.
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
