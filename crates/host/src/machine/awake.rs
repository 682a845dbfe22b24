//! Keeps idle cores from sleeping.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

/// The kernel's file for the longest time that a core may take to wake up
/// (`Documentation/power/pm_qos_interface.rst`).
const FILE: &str = "/dev/cpu_dma_latency";

/// A request that keeps idle cores of this host from halting and sleeping, until this value is dropped.
///
/// The cores spin instead, so that woken threads run at once. This costs power. If cores share a power budget, it
/// also lowers turbo frequencies. When the process ends for any reason, the kernel lets the cores sleep again.
#[derive(Debug)]
pub struct Awake {
    /// The request is in effect while the file is open.
    _file: File,
}

/// Why the cores cannot be kept awake.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep the cores awake by {FILE}: {0}; run dyno as root, outside of a container")]
pub struct AwakeError(#[from] io::Error);

impl Awake {
    /// Keeps the cores awake from now on.
    ///
    /// # Errors
    /// The kernel has no such file, as in most containers, or this user may not write to it.
    pub fn hold() -> Result<Self, AwakeError> {
        let mut file = OpenOptions::new().write(true).open(FILE)?;
        let latency_us_max: i32 = 0;
        file.write_all(&latency_us_max.to_ne_bytes())?;
        Ok(Self { _file: file })
    }
}

/// Whether any process keeps the cores awake now. `None` if this user may not read the file.
pub fn are_cores_awake() -> Option<bool> {
    let mut wanted_us = [0; 4];
    File::open(FILE).ok()?.read_exact(&mut wanted_us).ok()?;
    Some(i32::from_ne_bytes(wanted_us) == 0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process;

    use super::*;

    fn holders() -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", process::id())).unwrap();
        files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok())
            .filter(|to| to.as_os_str() == FILE)
            .count()
    }

    #[test]
    fn cores_are_held_awake_as_long_as_asked_or_it_is_said_why_not() {
        match Awake::hold() {
            Ok(awake) => {
                assert_eq!((holders(), are_cores_awake()), (1, Some(true)));
                drop(awake);
                assert_eq!(holders(), 0);
            }
            Err(error) => assert!(error.to_string().starts_with("cannot keep the cores awake"), "{error}"),
        }
    }
}
