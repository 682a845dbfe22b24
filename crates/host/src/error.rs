//! Errors of taking a sample.

use procfs::ProcError;

/// A sample that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The process no longer exists, or is a zombie that its parent has not reaped yet.
    #[error("process {pid} has ended")]
    ProcessEnded { pid: u32 },
    /// The kernel does not show a process to this user.
    #[error("process {pid}: {what} may not be read; run Dyno as the user that runs the server")]
    Forbidden { pid: u32, what: String },
    /// The device is no longer in `/proc/diskstats`.
    #[error("device {name} is no longer in /proc/diskstats")]
    DeviceGone { name: String },
    /// A procfs file is missing or invalid, for example because `/proc` is not mounted.
    #[error("cannot read {what}: {reason}")]
    Unreadable { what: String, reason: String },
}

impl SampleError {
    /// Converts a procfs error about a process.
    pub(crate) fn of_process(pid: u32, error: ProcError) -> Self {
        let is_gone = |error: &std::io::Error| error.raw_os_error() == Some(libc::ESRCH);
        match error {
            ProcError::NotFound(_) => Self::ProcessEnded { pid },
            ProcError::Io(error, _) if is_gone(&error) => Self::ProcessEnded { pid },
            ProcError::PermissionDenied(path) => Self::Forbidden {
                pid,
                what: path.map_or_else(|| "/proc".to_owned(), |path| path.display().to_string()),
            },
            error => Self::unreadable(&format!("/proc/{pid}"), &error),
        }
    }

    /// An error that concerns no process.
    pub(crate) fn unreadable(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self::Unreadable { what: what.to_owned(), reason: error.to_string() }
    }
}
