//! Processes that the kernel killed for lack of memory.

use crate::confine::{Confined, oom_kills_in_own_group};

/// Number of processes that the kernel has killed up to some moment.
#[derive(Clone, Copy, Debug)]
pub struct MemoryKills {
    /// Kills in the groups of a confinement.
    confined: u64,
    /// Kills within `scope`. If the scope is the host, they include the kills of the confinement.
    in_scope: u64,
    scope: Scope,
}

/// The processes whose kills are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Processes in the cgroup of this process, which include its children.
    OwnGroup,
    /// All processes of the host. A kill may be unrelated to Dyno.
    Host,
}

impl MemoryKills {
    /// The kills so far. Counts that the kernel does not have are 0. `shares_groups` says whether an unconfined
    /// server is in the cgroup of this process.
    pub fn so_far(confined: Option<&Confined>, shares_groups: bool) -> Self {
        let confined = confined.and_then(Confined::oom_kills).unwrap_or(0);
        match shares_groups.then(oom_kills_in_own_group).flatten() {
            Some(in_scope) => Self { confined, in_scope, scope: Scope::OwnGroup },
            None => Self { confined, in_scope: on_host(), scope: Scope::Host },
        }
    }

    /// A sentence about the kills since this count was taken; `None` if there were none.
    pub fn since(self, confined: Option<&Confined>) -> Option<String> {
        let now = Self::so_far(confined, self.scope == Scope::OwnGroup);
        if let Some(confined) = confined.filter(|_| now.confined > self.confined) {
            return Some(beyond_limit(confined.memory_limit_bytes(), confined.memory_peak_bytes()));
        }
        let killed = now.in_scope.saturating_sub(self.in_scope);
        (killed > 0).then(|| without_limit(killed, self.scope))
    }
}

fn without_limit(killed: u64, scope: Scope) -> String {
    let processes = if killed == 1 { "process" } else { "processes" };
    let of = match scope {
        Scope::OwnGroup => "of Dyno's cgroup",
        Scope::Host => "of this host",
    };
    format!("meanwhile the kernel killed {killed} {processes} {of} for lack of memory")
}

fn beyond_limit(limit_bytes: Option<u64>, peak_bytes: Option<u64>) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let limit = limit_bytes.map_or(String::new(), |bytes| format!(" of {} MiB", mib(bytes)));
    let peak = peak_bytes.map_or(String::new(), |bytes| format!("; it had used up to {} MiB", mib(bytes)));
    format!("the kernel killed it for lack of memory beyond its limit{limit}{peak}")
}

/// Reads `oom_kill` of `/proc/vmstat`, which exists since Linux 4.13 (proc(5)).
fn on_host() -> u64 {
    let counts = procfs::vmstat().unwrap_or_default();
    counts.get("oom_kill").copied().and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_kill_there_is_nothing_to_say() {
        assert_eq!(MemoryKills::so_far(None, true).since(None), None);
    }

    #[test]
    fn a_kill_without_a_limit_names_where_it_was() {
        assert_eq!(
            without_limit(1, Scope::OwnGroup),
            "meanwhile the kernel killed 1 process of Dyno's cgroup for lack of memory"
        );
        assert_eq!(
            without_limit(2, Scope::Host),
            "meanwhile the kernel killed 2 processes of this host for lack of memory"
        );
    }

    #[test]
    fn a_kill_names_limit_and_peak_as_far_as_the_kernel_has_them() {
        assert_eq!(
            beyond_limit(Some(300 << 20), Some(300 << 20)),
            "the kernel killed it for lack of memory beyond its limit of 300 MiB; it had used up to 300 MiB"
        );
        assert_eq!(beyond_limit(None, None), "the kernel killed it for lack of memory beyond its limit");
    }
}
