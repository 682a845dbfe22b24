//! The anchor of a run: a system that every session measures unchanged. If the anchor's figures change, the session
//! is the cause.

use dyno_settings::drift;
use dyno_store::{HostRecord, Run, SystemRecord};
use serde::Serialize;

use crate::compare::comparison::Difference;
use crate::trial::in_force::facts;

/// Facts about the host that must be equal in all sessions. An anchor cannot correct for differences in these
/// facts, because another processor, for example, does not affect all systems alike.
pub(crate) fn decisive(host: &HostRecord) -> [(&'static str, Option<String>); 4] {
    let HostRecord { cpu_model, cpus, memory_bytes, are_cores_awake, .. } = host;
    [
        ("cpu_model", cpu_model.clone()),
        ("cpus", cpus.map(|cpus| cpus.to_string())),
        ("memory_bytes", memory_bytes.map(|bytes| bytes.to_string())),
        ("are_cores_awake", are_cores_awake.map(|are_awake| are_awake.to_string())),
    ]
}

/// The anchor that several runs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedAnchor {
    /// The anchor's id in the base's run.
    pub system: String,
    /// The version that its server reported; `None` if it never started.
    pub engine_version: Option<String>,
    /// Differences between the runs' anchors or hosts. If there are any, the anchor is not used: the other systems'
    /// figures are not divided by its figures.
    pub differences: Vec<Difference>,
}

impl SharedAnchor {
    /// Combines the anchors of the runs into one, and lists the differences between them. `None` if a run has no
    /// anchor.
    pub(crate) fn of(base: &Run, others: &[&Run]) -> Option<Self> {
        let anchor = of_run(base)?;
        let mut differences: Vec<Difference> = Vec::new();
        for run in others {
            of_run(run)?;
            for found in anchor_differences(base, run) {
                if !differences.iter().any(|known| known.what == found.what) {
                    differences.push(found);
                }
            }
        }
        let SystemRecord { id, engine_version, .. } = anchor.clone();
        Some(Self { system: id, engine_version, differences })
    }

    /// Whether figures are divided by the anchor's figures.
    pub fn is_used(&self) -> bool {
        self.differences.is_empty()
    }
}

/// The anchor that the plan of a run names.
pub(crate) fn of_run(run: &Run) -> Option<&SystemRecord> {
    run.systems.iter().find(|system| system.is_anchor)
}

/// Differences between the anchors of two runs, and between their hosts and data. Empty if a run has no anchor.
/// Values that are unknown because a server never started do not count as differences.
pub(crate) fn anchor_differences(one: &Run, other: &Run) -> Vec<Difference> {
    let (Some(a), Some(b)) = (of_run(one), of_run(other)) else { return Vec::new() };
    let mut differences = Vec::new();
    let mut note = |what: &str, a: Option<String>, b: Option<String>| {
        if a != b {
            let text = |value: Option<String>, run: &Run| {
                format!("{} in run {}", value.unwrap_or_else(|| "unknown".to_owned()), run.id)
            };
            let what = what.to_owned();
            differences.push(Difference { what, base: text(a, one), candidate: text(b, other) });
        }
    };
    for ((name, a), (_, b)) in decisive(&one.record.host).into_iter().zip(decisive(&other.record.host)) {
        note(name, a, b);
    }
    note("scale", Some(one.record.scale.to_string()), Some(other.record.scale.to_string()));
    note("engine", Some(a.name.clone()), Some(b.name.clone()));
    note("image", a.image.clone(), b.image.clone());
    let limits = |system: &SystemRecord| system.confinement.as_ref().map(ToString::to_string);
    note("confinement", limits(a), limits(b));
    let (of_a, of_b) = (a.asked(), b.asked());
    for name in of_a.keys().chain(of_b.keys().filter(|name| !of_a.contains_key(*name))) {
        note(name, of_a.get(name).cloned(), of_b.get(name).cloned());
    }
    if a.engine_version.is_some() && b.engine_version.is_some() {
        note("version", a.engine_version.clone(), b.engine_version.clone());
    }
    if a.engine_version == b.engine_version
        && let (Some(a), Some(b)) = (facts(a), facts(b))
        && !a.variables.is_empty()
        && !b.variables.is_empty()
    {
        for found in drift(&a.reported(), &b.reported()) {
            note(&found.name, found.a.map(|side| side.value), found.b.map(|side| side.value));
        }
    }
    differences
}

#[cfg(test)]
mod tests;
