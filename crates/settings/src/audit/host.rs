//! State of the host, for the audit.

/// The state of the host before a run. Unknown values are `None`, and no rule applies to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostChecks {
    /// Cores that this host has.
    pub cpus: Option<u32>,
    /// Frequency governors, such as `performance`, separated by commas.
    pub cpu_governor: Option<String>,
    /// Whether cores may run faster than their nominal frequency while only a few are busy.
    pub turbo: Option<bool>,
    /// Median time until an idle core runs a woken thread, in µs.
    pub wake_us: Option<f64>,
    /// CPU quota of the run's control group, in cores.
    pub cpu_quota: Option<f64>,
    /// Memory limit of the run's control group, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Share of CPU time given to other guests, in percent.
    pub steal_percent: Option<f64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Memory that is swapped out, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Free space for the data, in bytes.
    pub disk_free_bytes: Option<u64>,
    /// Expected disk space of the run, in bytes.
    pub disk_needed_bytes: Option<u64>,
    /// Number of cores that other processes keep busy.
    pub other_load: Option<f64>,
    /// The processes that keep cores busy, each with the number of cores that it uses, such as `rustc (pid 7, 1.2)`.
    pub other_processes: Vec<String>,
    /// Median time of a 4 KB write with fsync on the disk of the data, in µs.
    pub fsync_us: Option<f64>,
    /// The file system of the data, such as `ext4`.
    pub file_system: Option<String>,
    pub mount_options: Option<Vec<String>>,
    /// Maker and model of a virtual machine; `None` for a physical one.
    pub hypervisor: Option<String>,
}
