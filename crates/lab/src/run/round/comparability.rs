//! Audits whether a plan's systems are comparable.

use std::path::Path;

use dyno_host::{Checks, LimitDifference, checks};
use dyno_settings::{Audit, HostChecks, Severity, SystemFacts, SystemLimits, audit};

use super::Round;
use crate::plan::{Plan, System};
use crate::run::system::{SystemSlot, SystemState};

/// Audits the variables and limits of the systems that have started, and the host. Controls are left out.
pub(crate) fn audit_systems(plan: &Plan, states: &[SystemState<'_>], round: &Round<'_>) -> Audit {
    let systems: Vec<SystemFacts> = plan
        .systems
        .iter()
        .zip(states)
        .filter(|(system, _)| system.control_of.is_none())
        .filter_map(|(system, state)| {
            Some(SystemFacts {
                id: system.id.clone(),
                product: system.product()?,
                variables: state.record.as_ref()?.variables.iter().cloned().collect(),
                asked: system.settings.clone(),
                limits: state.limits.clone(),
            })
        })
        .collect();
    let started = states.iter().filter(|state| state.record.is_some()).count();
    let host = round
        .slots
        .iter()
        .find_map(|(&system, slot)| Some((system, slot.as_ref().ok()?.data()?)))
        .map(|(system, data)| HostChecks {
            disk_needed_bytes: disk_needed_bytes(plan, system, started > round.slots.len()),
            ..facts(checks(data))
        })
        .unwrap_or_default();
    audit(&systems, &host)
}

/// Audits a host on which runs keep their data in the folder `data`. The folder must exist. The audit takes less than
/// a second, and mostly waits.
pub fn audit_host(data: &Path, disk_needed_bytes: Option<u64>) -> Audit {
    audit(&[], &HostChecks { disk_needed_bytes, ..facts(checks(data)) })
}

/// Returns the free space that the file system of a system's data must have, in bytes. A system's own volume needs
/// space for this system only. Otherwise, the file system needs space for all systems of the run. Returns `None` if
/// other systems have run on this shared file system before (`is_late`), because their data already uses some of the
/// space.
fn disk_needed_bytes(plan: &Plan, system: usize, is_late: bool) -> Option<u64> {
    match plan.systems[system].confinement.volume_bytes() {
        Some(_) => Some(plan.system_disk_bytes()),
        None => (!is_late).then(|| plan.outline().disk_bytes),
    }
}

/// The limits of a system on the host; `None` if Dyno did not start it.
pub(crate) fn limits(system: &System, slot: Option<&SystemSlot<'_>>) -> Option<SystemLimits> {
    if !system.source.is_started_by_dyno() {
        return None;
    }
    let asked = serde_json::json!(system.confinement);
    let asked = asked.as_object().into_iter().flatten();
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let read_back = slot.and_then(|slot| slot.system().ok()?.limits()).unwrap_or_default();
    let words = |it: &LimitDifference| format!("{} is {}, not {}", it.limit, it.found, it.asked);
    Some(SystemLimits {
        asked: asked.map(|(name, value)| (name.clone(), text(value))).collect(),
        differences: read_back.differences.iter().map(words).collect(),
        not_limited: read_back.not_limited.iter().map(ToString::to_string).collect(),
    })
}

/// Whether the audit has errors or warnings.
pub(crate) fn is_serious(audit: &Audit) -> bool {
    audit.worst().is_some_and(|worst| worst != Severity::Note)
}

/// Converts the host's checks for the audit.
fn facts(checks: Checks) -> HostChecks {
    let busiest = &checks.load.busiest;
    let other_processes =
        busiest.iter().map(|it| format!("{} (pid {}, {:.1})", it.name, it.pid, it.cpus)).collect();
    let options = |file_system: &dyno_host::FileSystem| {
        file_system.options.split(',').map(|option| option.trim().to_owned()).collect()
    };
    HostChecks {
        cpus: std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u32),
        cpu_governor: checks.governor,
        turbo: checks.turbo,
        wake_us: checks.wake_us.map(|us| us as f64),
        cpu_quota: checks.own_limits.cpus,
        memory_limit_bytes: checks.own_limits.memory_bytes,
        steal_percent: checks.load.steal_share.map(|share| share * 100.0),
        transparent_huge_pages: checks.transparent_huge_pages,
        swap_used_bytes: checks.swap_used_bytes,
        disk_free_bytes: checks.free_disk_bytes,
        disk_needed_bytes: None,
        other_load: Some(busiest.iter().map(|process| process.cpus).sum()),
        other_processes,
        fsync_us: checks.sync_write_us.map(|us| us as f64),
        mount_options: checks.file_system.as_ref().map(options),
        file_system: checks.file_system.map(|file_system| file_system.kind),
        hypervisor: checks
            .is_virtual
            .filter(|is_virtual| *is_virtual)
            .map(|_| checks.machine.unwrap_or_else(|| "of an unknown make".to_owned())),
    }
}
