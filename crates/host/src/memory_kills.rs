//! Processes that the kernel killed for lack of memory.

use crate::confine::Confined;

/// Number of kills up to some moment, in a confinement's groups and on the whole host.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryKills {
    confined: u64,
    host: u64,
}

impl MemoryKills {
    /// Current counts; 0 for counts that the kernel does not have.
    pub fn so_far(confined: Option<&Confined>) -> Self {
        Self { confined: confined.and_then(Confined::oom_kills).unwrap_or(0), host: on_host() }
    }

    /// A sentence on later kills; none if there were none.
    pub fn since(self, confined: Option<&Confined>) -> Option<String> {
        let now = Self::so_far(confined);
        if let Some(confined) = confined.filter(|_| now.confined > self.confined) {
            return Some(beyond_limit(confined.memory_limit_bytes(), confined.memory_peak_bytes()));
        }
        let killed = now.host.saturating_sub(self.host);
        (killed > 0).then(|| {
            format!("the host's memory was used up, and the kernel killed {killed} of its processes")
        })
    }
}

fn beyond_limit(limit_bytes: Option<u64>, peak_bytes: Option<u64>) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let limit = limit_bytes.map_or(String::new(), |bytes| format!(" of {} MiB", mib(bytes)));
    let peak = peak_bytes.map_or(String::new(), |bytes| format!("; it had used up to {} MiB", mib(bytes)));
    format!("the kernel killed it for want of memory beyond its limit{limit}{peak}")
}

/// `oom_kill` of `/proc/vmstat`, since Linux 4.13 (proc(5)).
fn on_host() -> u64 {
    let counts = procfs::vmstat().unwrap_or_default();
    counts.get("oom_kill").copied().and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_kill_there_is_nothing_to_say() {
        assert_eq!(MemoryKills::so_far(None).since(None), None);
    }

    #[test]
    fn a_kill_names_limit_and_peak_as_far_as_the_kernel_has_them() {
        assert_eq!(
            beyond_limit(Some(300 << 20), Some(300 << 20)),
            "the kernel killed it for want of memory beyond its limit of 300 MiB; it had used up to 300 MiB"
        );
        assert_eq!(beyond_limit(None, None), "the kernel killed it for want of memory beyond its limit");
    }
}
