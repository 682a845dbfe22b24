//! A disk whose requests take a given time.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::medium::Plain;
use super::serve::ServedDisk;
use crate::confine::ConfineError;
use crate::confine::error::At as _;

/// A disk that is stored in a file. Each request takes at least the disk's latency. The latencies of several requests
/// may pass at the same time, as on a disk with a deep queue.
#[derive(Debug)]
pub(crate) struct DelayedDisk(Arc<ServedDisk<Plain>>);

impl DelayedDisk {
    /// Creates `file`, and provides the contents of `image` as this file until `file` is unmounted. `image` has `bytes`
    /// bytes. The latency is 0 at first.
    pub(crate) fn serve(image: &Path, bytes: u64, file: &Path) -> Result<Self, ConfineError> {
        let open = File::options().read(true).write(true).open(image).at("open", image)?;
        File::create_new(file).at("create", file)?;
        let disk = ServedDisk::serve(Plain::new(open, bytes), Duration::ZERO, file)?;
        // The kernel learns the file's size only when a process looks at the file. The loop device needs the size.
        std::fs::metadata(file).at("look at", file)?;
        Ok(Self(disk))
    }

    /// Sets the time that a request takes. This also applies to requests that already wait.
    pub(crate) fn set_latency(&self, latency: Duration) {
        self.0.set_latency(latency);
    }

    pub(crate) fn latency(&self) -> Duration {
        self.0.latency()
    }
}

impl Drop for DelayedDisk {
    fn drop(&mut self) {
        // Without latency, the processes that use the disk end sooner.
        self.0.set_latency(Duration::ZERO);
    }
}
