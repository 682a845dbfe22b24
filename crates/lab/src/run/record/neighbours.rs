//! The CPU time that neighbours use while a trial, or a block of trials in slices, is measured.

use dyno_store::Neighbours;

/// Watches neighbours from its creation.
pub(crate) struct NeighbourWatch(Option<dyno_host::Neighbours>);

impl NeighbourWatch {
    /// Begins to watch. `servers` are the processes of all running servers, including resting ones. Without them,
    /// nothing is watched.
    pub(crate) fn begin(servers: Option<&[u32]>) -> Self {
        Self(servers.and_then(dyno_host::Neighbours::watch))
    }

    /// The neighbours' use since then; without figures if it is unknown.
    pub(crate) fn end(self) -> Neighbours {
        let Some(used) = self.0.and_then(dyno_host::Neighbours::usage) else { return Neighbours::default() };
        Neighbours {
            watched_us: Some(used.elapsed_us),
            watched_cpus: Some(used.cpus.into()),
            neighbour_cpu_us: Some(used.cpu_us),
            neighbour_steal_us: Some(used.steal_us),
        }
    }
}
