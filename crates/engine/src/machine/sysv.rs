//! System V shared memory. PostgreSQL has a page for each data folder, which shows whether the folder is in use. The
//! kernel keeps the page when the server is killed.

use std::path::Path;

use crate::machine::folder;

/// A page of System V shared memory, identified by its key and by the number that the kernel gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Page {
    key: libc::key_t,
    id: libc::c_int,
}

impl Page {
    /// Reads the page in a line of `/proc/PID/maps`. The path in the line is `/SYSV` and the key in hexadecimal. The
    /// number is in the field that shows the inode of a file (`ipc/shm.c` of Linux).
    pub(crate) fn of_mapping(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(4);
        let id = words.next()?.parse().ok()?;
        let key = u32::from_str_radix(words.next()?.strip_prefix("/SYSV")?, 16).ok()?;
        Some(Self { key: key.cast_signed(), id })
    }

    /// The page in the seventh line of `postmaster.pid` (PostgreSQL's `miscadmin.h`, `LOCK_FILE_LINE_SHMEM_KEY`).
    fn of_lock_file(lock_file: &str) -> Option<Self> {
        let mut words = lock_file.lines().nth(6)?.split_whitespace();
        Some(Self { key: words.next()?.parse().ok()?, id: words.next()?.parse().ok()? })
    }

    /// Removes the page if it belongs to the account of servers and no process uses it.
    pub(crate) fn remove_unused(self) {
        // SAFETY: the structure holds only numbers, and 0 is a valid value of each.
        let mut found: libc::shmid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: shmctl(2) fills the structure, which outlives the call. It is read only after success.
        let is_found = unsafe { libc::shmctl(self.id, libc::IPC_STAT, &raw mut found) } == 0;
        // The kernel reuses numbers, so the number may now belong to another user's page.
        let is_its = found.shm_perm.uid == folder::server_account() && found.shm_perm.__key == self.key;
        if is_found && is_its && found.shm_nattch == 0 {
            // SAFETY: the call removes by number and uses no memory of this process. If it fails, a page of
            // 56 bytes stays.
            unsafe { libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}

/// Removes the page that a dead PostgreSQL has left: the page that its data folder names, if no process uses that
/// page.
pub(crate) fn remove_of(data: &Path) {
    let lock_file = folder::read_text_of_server(&data.join("postmaster.pid"));
    if let Some(page) = lock_file.as_deref().and_then(Page::of_lock_file) {
        page.remove_unused();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seventh_line_of_the_lock_file_names_the_page() {
        let lock_file = "4711\n/data\n1700000000\n5432\n/tmp\n127.0.0.1\n  16911     32770\nready\n";
        assert_eq!(Page::of_lock_file(lock_file), Some(Page { key: 16911, id: 32770 }));
        assert_eq!(Page::of_lock_file("4711\n/data\n"), None);
    }

    #[test]
    fn a_page_is_found_among_what_is_mapped() {
        let line = "7f1b97a9f000-7f1b97aa0000 rw-s 00000000 00:01 32770                      /SYSV0000420f (deleted)";
        assert_eq!(Page::of_mapping(line), Some(Page { key: 16911, id: 32770 }));
        let high = "7f00-7f01 rw-s 00000000 00:01 5 /SYSVfffffffe (deleted)";
        assert_eq!(Page::of_mapping(high), Some(Page { key: -2, id: 5 }));
        for other in ["7f00-7f01 rw-p 00000000 00:00 0 [heap]", "7f00-7f01 rw-s 00000000 00:01 5", ""] {
            assert_eq!(Page::of_mapping(other), None, "{other}");
        }
    }
}
