//! System V shared memory. PostgreSQL has a page for each data folder, which shows whether the folder is in use. The
//! kernel keeps the page when the server is killed.

use std::path::Path;

use crate::machine::folder;

/// Removes the page of a dead PostgreSQL, if its data folder names one that no process uses.
pub(crate) fn remove_of(data: &Path) {
    let lock_file = folder::read_text_of_server(&data.join("postmaster.pid"));
    let Some((key, id)) = lock_file.as_deref().and_then(named) else { return };
    // SAFETY: a plain structure of numbers, for which zeros are values.
    let mut found: libc::shmid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: shmctl(2) fills the structure, which outlives the call. It is read only after success.
    let is_found = unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut found) } == 0;
    // The number comes from a server's file, so it may belong to anyone, or may have been reused.
    let is_its = found.shm_perm.uid == folder::server_account() && found.shm_perm.__key == key;
    if is_found && is_its && found.shm_nattch == 0 {
        // SAFETY: the call removes by number and uses no memory of this process. A failure leaves a page of 56 bytes.
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
