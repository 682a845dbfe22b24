//! The plan's table `[confinement]`: what a system may use of the host.

use std::fmt::Display;
use std::str::FromStr;

use dyno_host::{Confinement, IoLimits, parse_bytes};

use super::error::Problem;
use super::table::{Mistake, Value};

pub(super) const KEYS: [&str; 9] = [
    "server_cpus",
    "client_cpus",
    "memory",
    "iops",
    "read_iops",
    "write_iops",
    "read_bytes_per_second",
    "write_bytes_per_second",
    "volume",
];

const NUMBERS: std::ops::Range<u64> = 1..1_000_000_000_000;

/// Reads a `[confinement]` table. `iops` sets both `read_iops` and `write_iops`.
pub(super) fn confinement(value: Value<'_>) -> Result<Confinement, Mistake> {
    let span = value.span.clone();
    let mut table = value.table("a confinement", &KEYS)?;
    let mut number = |key| table.optional(key).map(|value| value.whole(NUMBERS)).transpose();
    let iops = number("iops")?;
    let (read_iops, write_iops) = (number("read_iops")?.or(iops), number("write_iops")?.or(iops));
    let mut size = |key| table.optional(key).map(size).transpose();
    let io = IoLimits {
        read_iops,
        write_iops,
        read_bytes_per_second: size("read_bytes_per_second")?,
        write_bytes_per_second: size("write_bytes_per_second")?,
    };
    let (memory_bytes, volume_bytes) = (size("memory")?, size("volume")?);
    let confinement = Confinement {
        server_cpus: table.optional("server_cpus").map(parsed).transpose()?,
        client_cpus: table.optional("client_cpus").map(parsed).transpose()?,
        memory_bytes,
        io,
        volume_bytes,
    };
    match confinement.check_limits() {
        Ok(()) => Ok(confinement),
        Err(error) => Err((span, Problem::Other(error.to_string()))),
    }
}

/// `512M`, or a number of bytes.
fn size(value: Value<'_>) -> Result<u64, Mistake> {
    let span = value.span.clone();
    parse_bytes(&value.scalar()?).map_err(|error| (span, Problem::Other(error.to_string())))
}

fn parsed<T: FromStr<Err: Display>>(value: Value<'_>) -> Result<T, Mistake> {
    let span = value.span.clone();
    value.scalar()?.parse().map_err(|error: T::Err| (span, Problem::Other(error.to_string())))
}
