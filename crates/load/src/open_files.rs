//! How many sockets this process may have.

/// Raises the limit of open files as far as this process may (`setrlimit(2)`): a shell's usual 1,024 is less than a
/// storm of connections needs. Where it cannot be raised the connections that find no room say so.
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
