//! The plan's table `[confinement]`: what a system may use of the host.

use std::collections::BTreeMap;

use dyno_host::{Confinement, IoLimits};
use serde::Deserialize;

use crate::plan::syntax::de;
use crate::plan::syntax::mistake::Mistake;
use crate::plan::syntax::value::{Cpus, Milliseconds, Size, Whole};

/// Limits of a system on the host; docs/do/confinement.md.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ConfinementTable {
    /// CPUs of the server: 0-3,6.
    server_cpus: Option<Cpus>,
    /// CPUs of the load generator.
    client_cpus: Option<Cpus>,
    /// A size in bytes, or with K, M, G or T: 512M.
    memory: Option<Size>,
    /// Limit on reads a second and, separately, on writes a second.
    iops: Option<Iops>,
    /// Reads and writes a second while the volume has credits. When they are used up, `iops` applies.
    burst_iops: Option<Iops>,
    /// The most credits. Each pays for one operation. A volume begins with all of them, and earns `iops` a second.
    burst_credits: Option<Iops>,
    /// Reads a second.
    read_iops: Option<Iops>,
    /// Writes and cache flushes a second.
    write_iops: Option<Iops>,
    /// A size in bytes, or with K, M, G or T: 512M.
    read_bytes_per_second: Option<Size>,
    /// A size in bytes, or with K, M, G or T: 512M.
    write_bytes_per_second: Option<Size>,
    /// Least time of each request to the disk of the volume, in milliseconds. 0 makes a disk that the event
    /// `disk_latency_ms` can slow down.
    latency_ms: Option<Milliseconds>,
    /// Size of the volume that holds the data.
    volume: Option<Size>,
}

/// A number of I/O operations a second, or of credits. The limit catches typing errors.
type Iops = Whole<1, 999_999_999_999>;

/// A `[confinement]` whose limits fit together.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "ConfinementTable")]
pub(in crate::plan) struct Limits(
    #[cfg_attr(test, schemars(with = "ConfinementTable"))] pub(in crate::plan) Confinement,
);

impl TryFrom<ConfinementTable> for Limits {
    type Error = String;

    fn try_from(table: ConfinementTable) -> Result<Self, String> {
        table.checked_over(&Confinement::default()).map(Self)
    }
}

impl ConfinementTable {
    /// Like [`over`](Self::over), but returns an error if limits contradict each other, or if a limit has no
    /// effect.
    fn checked_over(self, under: &Confinement) -> Result<Confinement, String> {
        if self.iops.is_some() && self.read_iops.is_some() && self.write_iops.is_some() {
            return Err("`read_iops` and `write_iops` replace `iops`; leave it out".to_owned());
        }
        let confinement = self.over(under);
        confinement.check_limits().map_err(|error| error.to_string())?;
        Ok(confinement)
    }

    /// Returns the limits of the table. A limit that the table does not set is taken from `under`.
    fn over(self, under: &Confinement) -> Confinement {
        let bytes = |size: Option<Size>, under: Option<u64>| size.map(|size| size.0).or(under);
        let iops = |own: Option<Iops>, under| own.or(self.iops).map(|iops| iops.0).or(under);
        Confinement {
            memory_bytes: bytes(self.memory, under.memory_bytes),
            io: IoLimits {
                read_iops: iops(self.read_iops, under.io.read_iops),
                write_iops: iops(self.write_iops, under.io.write_iops),
                read_bytes_per_second: bytes(self.read_bytes_per_second, under.io.read_bytes_per_second),
                write_bytes_per_second: bytes(self.write_bytes_per_second, under.io.write_bytes_per_second),
            },
            burst_iops: self.burst_iops.map(|iops| iops.0).or(under.burst_iops),
            burst_credits: self.burst_credits.map(|credits| credits.0).or(under.burst_credits),
            latency_us: self.latency_ms.map(|latency| (latency.0 * 1e3).round() as u64).or(under.latency_us),
            volume_bytes: bytes(self.volume, under.volume_bytes),
            server_cpus: self.server_cpus.map(|cpus| cpus.0).or_else(|| under.server_cpus.clone()),
            client_cpus: self.client_cpus.map(|cpus| cpus.0).or_else(|| under.client_cpus.clone()),
        }
    }
}

/// Returns a confinement with some of its limits changed. `limits` has keys and values of `[confinement]`.
pub(in crate::plan) fn with_limits(
    under: &Confinement,
    limits: &BTreeMap<String, String>,
) -> Result<Confinement, Mistake> {
    let line = |(key, value): (&String, &String)| match value.parse::<i64>() {
        Ok(number) => format!("{key:?} = {number}\n"),
        Err(_) => format!("{key:?} = {value:?}\n"),
    };
    let table: ConfinementTable = de::read(&limits.iter().map(line).collect::<String>(), "[confinement]")
        .map_err(|mistake: Mistake| Mistake::from(mistake.problem))?;
    Ok(table.checked_over(under)?)
}
