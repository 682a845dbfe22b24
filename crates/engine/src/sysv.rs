//! System V shared memory: PostgreSQL keeps a page for each data folder to know whether it is in use. The kernel
//! keeps the page when the server is killed.

use std::fs;
use std::path::Path;

/// Removes the page of a dead PostgreSQL, if its data folder names one that no process uses.
pub(crate) fn remove_of(data: &Path) {
    let Some((key, id)) = fs::read_to_string(data.join("postmaster.pid")).ok().as_deref().and_then(named)
    else {
        return;
    };
    // SAFETY: a plain structure of numbers, for which zeros are values.
    let mut found: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: shmctl(2) fills the structure, which lives; it is looked at only where that succeeded.
    let is_found = unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut found) } == 0;
    // The number may have been reused.
    if is_found && found.shm_nattch == 0 && found.shm_perm.__key == key {
        // SAFETY: removes by number, no memory of this process is involved. A failure leaves a page of 56 bytes.
        unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// Key and number in the seventh line of `postmaster.pid` (PostgreSQL's `miscadmin.h`, `LOCK_FILE_LINE_SHMEM_KEY`).
fn named(lock_file: &str) -> Option<(libc::key_t, libc::c_int)> {
    let mut words = lock_file.lines().nth(6)?.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seventh_line_names_the_page() {
        let lock_file = "4711\n/data\n1700000000\n5432\n/tmp\n127.0.0.1\n  16911     32770\nready\n";
        assert_eq!(named(lock_file), Some((16911, 32770)));
        assert_eq!(named("4711\n/data\n"), None);
    }
}
