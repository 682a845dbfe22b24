//! Measures the CPU time that neighbours (other processes or guests of the host) use during a trial without slices, or
//! during a block of trials in slices.

use dyno_store::Neighbours;

/// Measures the CPU time that neighbours (other processes or guests of the host) use after this value is created.
pub(crate) struct NeighbourWatch(Option<dyno_host::Neighbours>);

impl NeighbourWatch {
    /// Begins to watch. `servers` are the processes of all running servers, including servers that rest between
    /// slices. If `servers` is `None`, nothing is watched.
    pub(crate) fn begin(servers: Option<&[u32]>) -> Self {
        Self(servers.and_then(dyno_host::Neighbours::watch))
    }

    /// Ends the watch. Returns the CPU time that neighbours (other processes or guests of the host) used since the
    /// watch began. Figures that are unknown are left out.
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
