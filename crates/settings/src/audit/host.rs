//! What is known of the host.

/// The state of the host before a run. What could not be found out is `None`, and no rule says anything about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostChecks {
    /// Cores that this host has.
    pub cpus: Option<u32>,
    /// How the kernel chooses the cores' frequency, such as `performance`; of several, all, with commas between.
    pub cpu_governor: Option<String>,
    /// Whether cores may run faster than nominal while few are busy.
    pub turbo: Option<bool>,
    /// Median time until an idle core runs what is woken on it, in µs.
    pub wake_us: Option<f64>,
    /// CPU time that the group of the run may use in a unit of time: 1.5 is that of one and a half cores.
    pub cpu_quota: Option<f64>,
    /// Memory that the group of the run may use, in bytes.
    pub memory_limit_bytes: Option<u64>,
    /// Share of CPU time that the hypervisor gave to others, in percent.
    pub steal_percent: Option<f64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Memory that is swapped out, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Free space where the data will be, in bytes.
    pub disk_free_bytes: Option<u64>,
    /// Space that the run is expected to take, in bytes.
    pub disk_needed_bytes: Option<u64>,
    /// Cores that other processes keep busy.
    pub other_load: Option<f64>,
    /// The processes that do, each with the cores that it keeps busy, such as `rustc (pid 7, 1.2)`.
    pub other_processes: Vec<String>,
    /// Median time of a 4 KB write and fsync where the data will be, in µs.
    pub fsync_us: Option<f64>,
    /// The file system where the data will be, such as `ext4`.
    pub file_system: Option<String>,
    pub mount_options: Option<Vec<String>>,
    /// What the firmware of a virtual machine calls its maker and model; none also where it is a machine of its own.
    pub hypervisor: Option<String>,
}
