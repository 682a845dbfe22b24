//! Wakes a waiting loop from another thread.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// An event counter (`eventfd(2)`) that a loop waits for together with its sockets.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Arc<File>);

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed; the result is checked before it is owned.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is a new descriptor that nothing else owns.
        Ok(Self(Arc::new(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))))
    }

    /// Ends the loop's current or next wait.
    pub(crate) fn wake(&self) {
        // This fails only if the counter is full, and then the loop is awake.
        let _ = (&*self.0).write(&1_u64.to_ne_bytes());
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
