//! The plan's table `[confinement]`: what a system may use of the host.

use dyno_host::{Confinement, IoLimits, LimitError};
use serde::Deserialize;

use super::value::{Cpus, Size, Whole};

/// Limits of a system on the host; docs/confinement.md.
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
    /// As many reads and as many writes a second.
    iops: Option<Iops>,
    /// Reads a second.
    read_iops: Option<Iops>,
    /// Writes and cache flushes a second.
    write_iops: Option<Iops>,
    /// A size in bytes, or with K, M, G or T: 512M.
    read_bytes_per_second: Option<Size>,
    /// A size in bytes, or with K, M, G or T: 512M.
    write_bytes_per_second: Option<Size>,
    /// Size of the volume that holds the data.
    volume: Option<Size>,
}

/// The limit catches typing errors.
type Iops = Whole<1, 999_999_999_999>;

/// A `[confinement]` whose limits go together.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "ConfinementTable")]
pub(super) struct Limits(#[cfg_attr(test, schemars(with = "ConfinementTable"))] pub(super) Confinement);

impl TryFrom<ConfinementTable> for Limits {
    type Error = LimitError;

    fn try_from(table: ConfinementTable) -> Result<Self, LimitError> {
        let bytes = |size: Option<Size>| size.map(|size| size.0);
        let iops = |own: Option<Iops>| own.or(table.iops).map(|iops| iops.0);
        let confinement = Confinement {
            memory_bytes: bytes(table.memory),
            io: IoLimits {
                read_iops: iops(table.read_iops),
                write_iops: iops(table.write_iops),
                read_bytes_per_second: bytes(table.read_bytes_per_second),
                write_bytes_per_second: bytes(table.write_bytes_per_second),
            },
            volume_bytes: bytes(table.volume),
            server_cpus: table.server_cpus.map(|cpus| cpus.0),
            client_cpus: table.client_cpus.map(|cpus| cpus.0),
        };
        confinement.check_limits().map(|()| Self(confinement))
    }
}
