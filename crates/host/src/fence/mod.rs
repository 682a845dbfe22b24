//! Restricts programs that are not trusted. Servers are not trusted, because they execute any SQL that they get.

mod account;
mod view;

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

pub use self::account::Account;
use self::view::{View, first_closed};

/// The rights to run a program as another account and to give files to this account.
const CHANGE_OF_ACCOUNT: CapabilitySet =
    CapabilitySet::SETUID.union(CapabilitySet::SETGID).union(CapabilitySet::CHOWN);

/// Why a program cannot be fenced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// This process is root in name only. It lacks the rights to change the account.
    #[error(
        "dyno runs as root without the rights to start a server as another account (CAP_SETUID, CAP_SETGID, \
         CAP_CHOWN), and starts none as root: run dyno as another user"
    )]
    Rights,
    /// The program needs a folder, but a folder on the way to it is closed to the account. Dyno may not mount the
    /// needed folder elsewhere.
    #[error(
        "{} is closed to the account {}, which servers run as, and dyno lacks CAP_SYS_ADMIN to mount \
         what is in it elsewhere for them: use a folder that everyone can enter (DYNO_CACHE sets dyno's own), or run \
         dyno as another user",
        .0.display(),
        Account::NAME
    )]
    ClosedParent(PathBuf),
    /// A folder that the program needs is itself closed to the account.
    #[error(
        "{} is closed to the account {}, which servers run as; chmod o+rx helps",
        .0.display(),
        Account::NAME
    )]
    Folder(PathBuf),
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

/// The restrictions of a program. A fence is built before fork, because a child must not allocate.
///
/// The program has no capabilities, and gains no rights from programs that it executes. If Dyno is root, the
/// program runs as an [`Account`]. It reaches the folders that it needs even if they are below folders that are
/// closed to this account, such as `/root`.
#[derive(Debug)]
pub struct Fence {
    account: Option<Account>,
    view: View,
}

impl Fence {
    /// Builds a fence for a program that needs some folders.
    ///
    /// # Errors
    /// The account cannot be changed, or could not reach one of the folders.
    pub fn around(needed: &[&Path]) -> Result<Self, FenceError> {
        let Some(account) = Account::instead_of_root() else {
            return Ok(Self { account: None, view: View::default() });
        };
        if !has_right(CHANGE_OF_ACCOUNT) {
            return Err(FenceError::Rights);
        }
        for folder in needed {
            let unreadable = |source| FenceError::Unreadable { path: folder.to_path_buf(), source };
            if !account.can_enter(&folder.metadata().map_err(unreadable)?) {
                return Err(FenceError::Folder(folder.to_path_buf()));
            }
        }
        let view = View::of(account, needed)?;
        match view.closed() {
            Some(folder) if !may_change_views() => Err(FenceError::ClosedParent(folder)),
            _ => Ok(Self { account: Some(account), view }),
        }
    }

    /// Returns the topmost folder on the way to `folder` that is closed to the [`Account`] of fenced programs. `None`
    /// if all folders on the way are open, or if this process is not root.
    pub fn closed_on_the_way_to(folder: &Path) -> Option<PathBuf> {
        first_closed(Account::instead_of_root()?, folder)
    }

    /// Whether no fenced program can reach a folder. The folder need not exist. It is unreachable if a folder above
    /// it is closed to the fenced program's account, and this process may not mount the folder elsewhere. In most
    /// containers, even root may not mount.
    pub fn is_unreachable(folder: &Path) -> bool {
        !may_change_views() && Self::closed_on_the_way_to(folder).is_some()
    }

    /// Puts the calling process inside the fence permanently. Makes system calls only, so it may be called
    /// between fork and exec.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn enter(&mut self) -> io::Result<()> {
        self.view.enter()?;
        // This comes before the change of account, because it needs a right that the account does not have.
        empty_bounding_set()?;
        match self.account {
            Some(account) => account.assume()?,
            None => give_up_capabilities()?,
        }
        gain_no_rights()
    }
}

/// Removes the capabilities that the calling thread could get back from programs that it executes (capabilities(7),
/// "capability bounding set"). This needs `CAP_SETPCAP`. Without that right nothing is removed, but
/// [`gain_no_rights`] prevents programs from getting any capability.
fn empty_bounding_set() -> io::Result<()> {
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            // The kernel has no capability with this number or a greater one.
            Err(Errno::INVAL) => break,
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes all capabilities from the calling thread, including those that programs inherit.
fn give_up_capabilities() -> io::Result<()> {
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Prevents the calling thread from gaining rights through programs that it executes (`prctl(2)`,
/// `PR_SET_NO_NEW_PRIVS`).
///
/// # Errors
/// The kernel refuses.
pub fn gain_no_rights() -> io::Result<()> {
    Ok(set_no_new_privs(true)?)
}

/// Makes the kernel kill this process, and processes that it starts, before all others when memory runs out
/// (`proc(5)`, `oom_score_adj`).
///
/// # Errors
/// The kernel refuses.
pub fn be_killed_first() -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", "1000")
}

/// Whether this process may give a program a separate view of the file system.
fn may_change_views() -> bool {
    has_right(CapabilitySet::SYS_ADMIN)
}

fn has_right(right: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(right))
}

/// Whether this process is root.
fn is_root() -> bool {
    geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn without_the_right_to_mount_what_is_below_a_closed_folder_is_out_of_reach() {
        let top = tempfile::tempdir().unwrap();
        let below = top.path().join("a/b");
        set_permissions(top.path(), Permissions::from_mode(0o711)).unwrap();
        assert!(!Fence::is_unreachable(&below));
        set_permissions(top.path(), Permissions::from_mode(0o700)).unwrap();
        // The rights are removed in a separate thread, because rights belong to a thread.
        let without = std::thread::spawn(move || {
            let sets = capabilities(None).unwrap();
            let effective = sets.effective - CapabilitySet::SYS_ADMIN;
            set_capabilities(None, CapabilitySets { effective, ..sets }).unwrap();
            Fence::is_unreachable(&below)
        });
        assert_eq!(without.join().unwrap(), is_root());
    }
}
