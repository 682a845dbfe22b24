//! The host of a run.

use dyno_host::HostFacts;
use dyno_store::HostRecord;

/// Returns the facts about this host that the results file stores.
pub(crate) fn this_host() -> HostRecord {
    let HostFacts {
        hostname,
        os,
        kernel,
        architecture,
        cpu_model,
        cpus,
        memory_bytes,
        swap_bytes,
        governor,
        is_virtual,
        are_cores_awake,
    } = dyno_host::facts();
    HostRecord {
        hostname,
        os,
        kernel,
        architecture: Some(architecture),
        cpu_model,
        cpus: Some(u64::from(cpus)),
        memory_bytes,
        swap_bytes,
        governor,
        is_virtual,
        are_cores_awake,
    }
}
