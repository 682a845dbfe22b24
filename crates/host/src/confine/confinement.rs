//! Limits of a system's resources.

use serde::{Deserialize, Serialize};

use super::cpu_set::CpuSet;

/// Limits of a system's resources, as the plan sets them; `None` means no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confinement {
    /// The CPUs of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<CpuSet>,
    /// The CPUs of the load generator; see [`pin_command`](crate::pin_command).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpus: Option<CpuSet>,
    /// Memory of the server in bytes, page cache included. Above the limit, the kernel drops pages. If no page can
    /// be dropped, the kernel kills the server. The server gets no swap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Limits of I/O on the volume.
    #[serde(flatten)]
    pub io: IoLimits,
    /// Limit of reads a second, and of writes a second, while the volume has credits. Without credits, the limits
    /// of `io` apply, which are the baseline. `None` if the limits never change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_iops: Option<u64>,
    /// Number of credits with which the volume starts, which is also the most that it can accumulate. A read or a
    /// write costs one credit. If the baseline is `n` operations per second, the volume earns `n` credits each
    /// second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_credits: Option<u64>,
    /// The least duration of each request to the volume's disk, in microseconds. With 0, the disk can be slowed down
    /// later ([`Confined::set_latency`](crate::Confined::set_latency)). With `None`, it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<u64>,
    /// Size of the volume with the data, in bytes. With `None`, the size is [`DEFAULT_VOLUME_BYTES`] if I/O is
    /// limited or has a latency. Otherwise there is no volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_bytes: Option<u64>,
}

/// Limits of I/O per second. Reads and writes have separate limits, because the kernel cannot limit their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Writes and cache flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_second: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_second: Option<u64>,
}

/// Default size of a volume, in bytes.
pub const DEFAULT_VOLUME_BYTES: u64 = 10 << 30;

/// Size of the smallest volume, in bytes. ext4 needs space for its journal, and the server for its own files.
const VOLUME_BYTES_MIN: u64 = 32 << 20;

/// A limit with which nothing can run, or limits that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    #[error("`{name}` must be at least {minimum}")]
    TooLow { name: &'static str, minimum: u64 },
    #[error(
        "`burst_iops` needs `burst_credits`, and the reverse; both need `iops`, lower than `burst_iops`, as the baseline"
    )]
    Burst,
}

impl IoLimits {
    /// Limits reads and writes to the same number.
    pub fn of_iops(iops: u64) -> Self {
        Self { read_iops: Some(iops), write_iops: Some(iops), ..Self::default() }
    }

    /// Whether there is no limit.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Confinement {
    /// Whether there is no limit.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The size of the volume in bytes; `None` if no volume is needed.
    pub fn volume_bytes(&self) -> Option<u64> {
        let needs_one = !self.io.is_none() || self.latency_us.is_some();
        self.volume_bytes.or_else(|| needs_one.then_some(DEFAULT_VOLUME_BYTES))
    }

    /// Checks the numbers, independently of any host.
    ///
    /// # Errors
    /// A limit is too low for anything to run, or the limits of a burst are incomplete or contradict each other.
    pub fn check_limits(&self) -> Result<(), LimitError> {
        let io = &self.io;
        let limits = [
            ("memory", self.memory_bytes, 1 << 20),
            ("read_iops", io.read_iops, 1),
            ("write_iops", io.write_iops, 1),
            ("read_bytes_per_second", io.read_bytes_per_second, 4096),
            ("write_bytes_per_second", io.write_bytes_per_second, 4096),
            ("volume", self.volume_bytes, VOLUME_BYTES_MIN),
        ];
        let low = limits.into_iter().find(|(_, value, minimum)| value.is_some_and(|value| value < *minimum));
        if let Some((name, _, minimum)) = low {
            return Err(LimitError::TooLow { name, minimum });
        }
        match (self.burst_iops, self.burst_credits) {
            (None, None) => Ok(()),
            _ if self.burst().is_some() => Ok(()),
            _ => Err(LimitError::Burst),
        }
    }

    /// Returns the baseline rate, the burst rate and the largest balance of a volume with burst credits. `None`
    /// without burst credits.
    pub(super) fn burst(&self) -> Option<(u64, u64, u64)> {
        let IoLimits { read_iops: Some(reads), write_iops: Some(writes), .. } = self.io else { return None };
        let (burst, credits) = self.burst_iops.zip(self.burst_credits)?;
        (reads == writes && reads < burst).then_some((reads, burst, credits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_io_takes_a_volume_and_nothing_else_does() {
        let io = Confinement { io: IoLimits::of_iops(500), ..Confinement::default() };
        assert_eq!(io.volume_bytes(), Some(DEFAULT_VOLUME_BYTES));
        let slow = Confinement { latency_us: Some(0), ..Confinement::default() };
        assert_eq!(slow.volume_bytes(), Some(DEFAULT_VOLUME_BYTES));
        let sized = Confinement { volume_bytes: Some(1 << 30), ..Confinement::default() };
        assert_eq!(sized.volume_bytes(), Some(1 << 30));
        let memory = Confinement { memory_bytes: Some(1 << 30), ..Confinement::default() };
        assert_eq!(memory.volume_bytes(), None);
        assert!(Confinement::default().is_none() && !memory.is_none());
    }

    #[test]
    fn a_limit_under_which_nothing_runs_is_refused() {
        let refusal = |confinement: Confinement| confinement.check_limits().unwrap_err().to_string();
        let io = Confinement { io: IoLimits::of_iops(0), ..Confinement::default() };
        assert_eq!(refusal(io), "`read_iops` must be at least 1");
        let volume = Confinement { volume_bytes: Some(1 << 20), ..Confinement::default() };
        assert_eq!(refusal(volume), "`volume` must be at least 33554432");
        let burst = |iops, burst_iops, burst_credits| Confinement {
            io: IoLimits::of_iops(iops),
            burst_iops,
            burst_credits,
            ..Confinement::default()
        };
        assert_eq!(burst(300, Some(3000), Some(54_000)).check_limits(), Ok(()));
        for wrong in [burst(300, Some(3000), None), burst(300, None, Some(1)), burst(300, Some(300), Some(1))]
        {
            assert_eq!(wrong.check_limits(), Err(LimitError::Burst));
        }
        assert_eq!(Confinement { io: IoLimits::of_iops(1), ..Confinement::default() }.check_limits(), Ok(()));
    }

    #[test]
    fn json_is_flat_and_leaves_out_what_is_not_limited() {
        let confinement = Confinement {
            server_cpus: Some("0-1".parse().unwrap()),
            io: IoLimits::of_iops(500),
            ..Confinement::default()
        };
        let json = serde_json::to_value(&confinement).unwrap();
        assert_eq!(json, serde_json::json!({"server_cpus": "0-1", "read_iops": 500, "write_iops": 500}));
        assert_eq!(serde_json::from_value::<Confinement>(json).unwrap(), confinement);
    }
}
