//! Facts about a host that make measurements noisy, or different from measurements on other hosts.

mod limits;
mod load;
mod storage;
mod wake_up;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use procfs::Current;

pub use self::limits::OwnLimits;
pub use self::load::{BusyProcess, OtherLoad};
pub use self::storage::FileSystem;
use crate::machine::facts;

/// The state of a host before a run. Facts that the kernel does not report are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Checks {
    /// Governors of CPU frequencies, comma-separated if CPUs differ.
    pub governor: Option<String>,
    /// Whether CPUs may exceed their nominal frequency (turbo). How far they exceed it depends on their temperature.
    pub turbo: Option<bool>,
    /// CPU time of other processes, and of other guests of the hypervisor.
    pub load: OtherLoad,
    /// Time until an idle CPU runs a woken thread, in µs.
    pub wake_us: Option<u64>,
    /// Mode of transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// Swap space in use.
    pub swap_used_bytes: Option<u64>,
    /// Free space for users' files on the file system of the data, in bytes.
    pub free_disk_bytes: Option<u64>,
    /// The file system under the data.
    pub file_system: Option<FileSystem>,
    /// Median time of a small durable write, in µs.
    pub sync_write_us: Option<u64>,
    /// Whether the host runs under a hypervisor, according to the CPU's flags.
    pub is_virtual: Option<bool>,
    /// The machine's vendor and model from its firmware. On virtual machines, the hypervisor's name.
    pub machine: Option<String>,
    /// Limits of this process by its cgroups.
    pub own_limits: OwnLimits,
}

/// Memory that processes started by this one may use. This is the host's memory, or the limit of this process's
/// group if that is smaller. `None` if the kernel reports neither.
pub fn usable_memory_bytes() -> Option<u64> {
    let of_host = procfs::Meminfo::current().ok().map(|memory| memory.mem_total);
    [of_host, limits::own().memory_bytes].into_iter().flatten().min()
}

/// Checks a host whose runs keep their data in the folder `data`, which must exist. This takes less than a second.
/// Most of that time is waiting.
pub fn checks(data: &Path) -> Checks {
    let load = load::measure();
    let meminfo = procfs::Meminfo::current().ok();
    Checks {
        governor: governors(Path::new("/sys/devices/system/cpu")),
        turbo: turbo(Path::new("/sys/devices/system/cpu")),
        load,
        wake_us: wake_up::median_us(),
        transparent_huge_pages: facts::line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|line| chosen(&line)),
        swap_used_bytes: meminfo.map(|memory| memory.swap_total.saturating_sub(memory.swap_free)),
        free_disk_bytes: storage::free_bytes(data),
        file_system: storage::file_system(data),
        sync_write_us: storage::sync_write_us(data),
        is_virtual: facts::is_virtual(),
        machine: machine(Path::new("/sys/class/dmi/id")),
        own_limits: limits::own(),
    }
}

/// Rounds to three decimal places, because further digits are noise.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// The frequency governors in use.
fn governors(cpus: &Path) -> Option<String> {
    let names = fs::read_dir(cpus)
        .ok()?
        .filter_map(|item| facts::line(item.ok()?.path().join("cpufreq/scaling_governor")));
    let names: BTreeSet<String> = names.collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(", "))
}

/// Whether turbo is on. Intel's driver has a switch that turns turbo off, and other drivers have one that turns it
/// on.
fn turbo(cpus: &Path) -> Option<bool> {
    let is_off = facts::line(cpus.join("intel_pstate/no_turbo")).map(|line| line != "0");
    is_off.map(|is_off| !is_off).or_else(|| Some(facts::line(cpus.join("cpufreq/boost"))? != "0"))
}

/// The selected word of a list in sysfs, which is in brackets (`always [madvise] never`).
fn chosen(line: &str) -> Option<String> {
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn machine(dmi: &Path) -> Option<String> {
    let words: Vec<_> =
        ["sys_vendor", "product_name"].iter().filter_map(|name| facts::line(dmi.join(name))).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests;
