//! The activity of an idle server, which shows whether the server is at rest.

use dyno_host::{ProcessSample, ProcessTree};

use super::meter::Work;

/// Measures CPU time and written bytes of a server's processes since the last reading.
pub(crate) struct Activity {
    process: ProcessTree,
    latest: ProcessSample,
}

impl Activity {
    /// Begins to measure. Returns `None` if the system has no process of its own, or if the process cannot be read.
    pub(crate) fn of(work: Work) -> Option<Self> {
        let Work::Server(pid) = work else { return None };
        let mut process = ProcessTree::open(pid).ok()?;
        let latest = process.sample().ok()?;
        Some(Self { process, latest })
    }

    /// CPU time in µs and bytes written since the last call; `None` if the server has ended.
    pub(crate) fn since_last(&mut self) -> Option<(u64, u64)> {
        let now = self.process.sample().ok()?;
        let change = now.since(&self.latest);
        self.latest = now;
        Some((change.user_cpu_us + change.system_cpu_us, change.write_bytes.unwrap_or(0)))
    }
}
