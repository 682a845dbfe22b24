//! The hardware that the limits of systems allow, and families of systems that differ only in hardware.

use dyno_store::{Origin, Run, SystemRecord};
use serde::Serialize;
use serde_json::Value;

/// Keys of a confinement that are amounts of hardware. Systems of a family may differ in them.
const AMOUNTS: [&str; 5] = ["server_cpus", "client_cpus", "read_iops", "write_iops", "volume_bytes"];

/// The CPUs and the volume that a system may use. An amount is `None` if it is not limited or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hardware {
    pub cpus: Option<u64>,
    /// Number of reads per second.
    pub read_iops: Option<u64>,
    /// Number of writes and cache flushes per second.
    pub write_iops: Option<u64>,
}

/// A part of the hardware that may be the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Cpus,
    ReadIops,
    WriteIops,
}

impl Resource {
    pub const ALL: [Self; 3] = [Self::Cpus, Self::ReadIops, Self::WriteIops];
}

impl Hardware {
    /// Capacity of a resource per second: CPU seconds or requests.
    pub(super) fn capacity(self, resource: Resource) -> Option<f64> {
        let amount = match resource {
            Resource::Cpus => self.cpus,
            Resource::ReadIops => self.read_iops,
            Resource::WriteIops => self.write_iops,
        };
        amount.filter(|amount| *amount > 0).map(|amount| amount as f64)
    }

    /// The hardware that a system may use: its limits, or the host's CPUs if its CPUs are not limited. For a server
    /// that Dyno did not start, it is the hardware that the server's price is for.
    pub fn of(run: &Run, system: &SystemRecord) -> Self {
        let by_price = system.price.as_ref().filter(|_| system.origin == Origin::Dsn);
        let volume = by_price.and_then(|price| price.volume.as_ref()).map(|volume| volume.iops);
        let limit = |key: &str| system.confinement.as_ref().and_then(|limits| limits.get(key)?.as_u64());
        let limited =
            system.confinement.as_ref().and_then(|limits| count_cpus(limits.get("server_cpus")?.as_str()?));
        Self {
            cpus: match system.origin {
                Origin::Dsn => by_price.and_then(|price| Some(u64::from(price.instance.as_ref()?.cpus))),
                _ => limited.or(run.record.host.cpus),
            },
            read_iops: limit("read_iops").or(volume),
            write_iops: limit("write_iops").or(volume),
        }
    }
}

/// The number of CPUs of a set such as `0-3,6`.
fn count_cpus(set: &str) -> Option<u64> {
    let range = |range: &str| -> Option<u64> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    set.split(',').try_fold(0_u64, |sum, part| sum.checked_add(range(part)?))
}

/// Systems that differ only in the amount of their hardware.
pub(super) struct Family<'a> {
    pub(super) name: String,
    pub(super) systems: Vec<(&'a SystemRecord, Hardware)>,
}

/// The families of a run, in the plan's order. Controls belong to no family. Neither do systems on volumes with
/// burst credits, because the limit of such a volume changes during the measurement.
pub(super) fn families(run: &Run) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let has_bursts = |system: &SystemRecord| {
        system.confinement.as_ref().is_some_and(|limits| limits.get("burst_iops").is_some())
    };
    for system in run.systems.iter().filter(|system| system.control_of.is_none() && !has_bursts(system)) {
        let hardware = Hardware::of(run, system);
        match families.iter_mut().find(|family| are_alike(family.systems[0].0, system)) {
            Some(family) => family.systems.push((system, hardware)),
            None => families.push(Family { name: String::new(), systems: vec![(system, hardware)] }),
        }
    }
    for family in &mut families {
        family.name = name(&family.systems);
    }
    families
}

fn are_alike(one: &SystemRecord, other: &SystemRecord) -> bool {
    let rest = |system: &SystemRecord| {
        let mut limits = system.confinement.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        limits.retain(|key, _| !AMOUNTS.contains(&key.as_str()));
        limits
    };
    let of_server = |system: &SystemRecord| system.origin == Origin::Dsn;
    let sweep = |system: &SystemRecord| system.configuration.as_ref().map(|it| it.sweep.clone());
    // Systems that are started from a folder may be different builds, because builds of one version in two folders
    // have the same name. The systems of one sweep have the same build.
    let may_be_other_build =
        one.origin == Origin::Basedir && (sweep(one).is_none() || sweep(one) != sweep(other));
    // A server that Dyno did not start belongs to no family. Dyno knows only its address, and a server at another
    // address may be of another kind.
    !of_server(one)
        && !of_server(other)
        && !may_be_other_build
        && (&one.name, &one.profile, &one.requested_settings, rest(one))
            == (&other.name, &other.profile, &other.requested_settings, rest(other))
}

/// The name of a family. If the family consists of several systems of one sweep, it is the sweep's id with those levels
/// of factors that are equal in all of them. Otherwise, it is the first system's id.
fn name(systems: &[(&SystemRecord, Hardware)]) -> String {
    let configuration = |system: &SystemRecord| system.configuration.clone();
    let (first, others) = (systems[0].0, &systems[1..]);
    let Some(mut common) = configuration(first) else { return first.id.clone() };
    for (other, _) in others {
        let Some(other) = configuration(other).filter(|other| other.sweep == common.sweep) else {
            return first.id.clone();
        };
        common.levels.retain(|level| other.levels.contains(level));
    }
    let levels = common.levels.iter().map(|level| format!(".{}-{}", level.factor, level.level));
    if others.is_empty() { first.id.clone() } else { common.sweep + &levels.collect::<String>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_cpus_are_counted() {
        assert_eq!([count_cpus("0-3,6"), count_cpus("2"), count_cpus("0, 5-6")], [Some(5), Some(1), Some(3)]);
        let most = format!("0-{}", u64::MAX);
        assert_eq!(["", "3-1", "a", &most].map(count_cpus), [None; 4]);
    }
}
