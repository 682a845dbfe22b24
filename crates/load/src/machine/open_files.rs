//! The limit of open files of this process.

/// Raises the limit of open files (`setrlimit(2)`): a shell's usual 1,024 is too low for
/// thousands of connections. If this fails, connections beyond the limit report the error.
pub(crate) fn raise_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` lives through both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
