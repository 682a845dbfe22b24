//! Facts about the host, stored with each run.

use std::fs;
use std::path::Path;

use crate::machine::awake::are_cores_awake;
use procfs::Current;

/// The host at the start of a run. Facts that the kernel does not report are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    pub hostname: Option<String>,
    /// The distribution, such as `Debian GNU/Linux 12 (bookworm)`.
    pub os: Option<String>,
    /// The kernel's release, such as `6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// The processor architecture, such as `x86_64`.
    pub architecture: String,
    pub cpu_model: Option<String>,
    /// Number of CPUs that this process may run on.
    pub cpus: u32,
    /// Size of the main memory.
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    /// Governor of CPU frequencies, such as `performance`. `None` if the kernel does not control the frequencies.
    pub governor: Option<String>,
    /// Whether the host runs under a hypervisor, according to the CPU's flags.
    pub is_virtual: Option<bool>,
    /// Whether idle cores are kept awake.
    pub are_cores_awake: Option<bool>,
}

pub fn facts() -> HostFacts {
    let cpuinfo = procfs::CpuInfo::current().ok();
    let memory = procfs::Meminfo::current().ok();
    HostFacts {
        hostname: line("/proc/sys/kernel/hostname"),
        os: fs::read_to_string("/etc/os-release").ok().and_then(|text| pretty_name(&text)),
        kernel: line("/proc/sys/kernel/osrelease"),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu_model: cpuinfo.as_ref().and_then(|cpus| cpus.model_name(0)).map(str::to_owned),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        memory_bytes: memory.as_ref().map(|memory| memory.mem_total),
        swap_bytes: memory.as_ref().map(|memory| memory.swap_total),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        is_virtual: cpuinfo.as_ref().and_then(has_hypervisor),
        are_cores_awake: are_cores_awake(),
    }
}

/// Whether the host runs under a hypervisor, according to the CPU's flags.
pub(crate) fn is_virtual() -> Option<bool> {
    has_hypervisor(&procfs::CpuInfo::current().ok()?)
}

fn has_hypervisor(cpuinfo: &procfs::CpuInfo) -> Option<bool> {
    Some(cpuinfo.flags(0)?.contains(&"hypervisor"))
}

/// The text of a file that has a single line. `None` if the file is empty or cannot be read.
pub(crate) fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// `PRETTY_NAME` of an os-release(5) file.
fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linux_host_tells_its_kernel_cpus_and_memory() {
        let facts = facts();
        assert!(facts.kernel.is_some_and(|kernel| kernel.starts_with(|first: char| first.is_ascii_digit())));
        assert!(facts.cpus >= 1);
        assert!(facts.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn the_distribution_is_named_with_or_without_quotes() {
        assert_eq!(
            pretty_name("ID=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(),
            Some("Debian GNU/Linux 12")
        );
        assert_eq!(pretty_name("PRETTY_NAME=Void\n").as_deref(), Some("Void"));
        assert_eq!(pretty_name("ID=x\n"), None);
    }
}
