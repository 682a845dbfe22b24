//! Measures the memory of a system and of its load during a measurement.

use dyno_host::{MemoryGauge, MemoryUsage};
use dyno_store::Memory;

use super::meter::Work;

/// Follows the memory of a system's processes and of the load process.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    work: Work,
    client_pid: Option<u32>,
    /// The gauges that are read. `None` before the measurement begins.
    gauges: Option<Gauges>,
}

#[derive(Debug)]
struct Gauges {
    server: Option<MemoryGauge>,
    client: Option<MemoryGauge>,
}

impl MemoryMeter {
    pub(crate) fn new(work: Work, client_pid: Option<u32>) -> Self {
        Self { work, client_pid, gauges: None }
    }

    /// Begins to measure.
    pub(crate) fn begin(&mut self) {
        let server = match self.work {
            Work::Server(pid) => Some(MemoryGauge::of(pid)),
            Work::InClient | Work::Elsewhere => None,
        };
        self.gauges = Some(Gauges { server, client: self.client_pid.map(MemoryGauge::of) });
    }

    /// Reads the memory. This method is called once a second, and does nothing before [`Self::begin`].
    pub(crate) fn second(&mut self) {
        if let Some(Gauges { server, client }) = &mut self.gauges {
            server.iter_mut().for_each(MemoryGauge::look);
            client.iter_mut().for_each(MemoryGauge::look);
        }
    }

    /// Returns the memory that was used during the measurement. `told_bytes` is the largest memory that load
    /// processes on other hosts have reported.
    pub(crate) fn finish(&self, told_bytes: Option<u64>) -> Memory {
        let usage = |gauge: Option<&MemoryGauge>| gauge.and_then(MemoryGauge::usage);
        let client = usage(self.gauges.as_ref().and_then(|gauges| gauges.client.as_ref()));
        let server = usage(self.gauges.as_ref().and_then(|gauges| gauges.server.as_ref()));
        let is_inside = self.work == Work::InClient;
        let server = if is_inside { client } else { server };
        let client = client.filter(|_| !is_inside);
        Memory {
            server_memory_peak_bytes: server.map(|usage: MemoryUsage| usage.peak_bytes),
            server_memory_mean_bytes: server.map(|usage| usage.mean_bytes),
            client_memory_peak_bytes: if self.client_pid.is_none() {
                told_bytes
            } else {
                client.map(|usage| usage.peak_bytes)
            },
        }
    }
}
