//! Compares the hardware that a price is for with the hardware that was measured.

use dyno_store::{Origin, Price, Run, SystemRecord};
use serde::Serialize;

use crate::cost::forecast::Hardware;

/// Two amounts count as the same if they differ by at most this share.
const SAME_SHARE: f64 = 0.1;

/// The price of a system's hardware.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Priced {
    pub dollars_per_year: f64,
    /// The priced instance and volume from a price list; `None` if the plan states the price itself.
    pub by_list: Option<Price>,
}

/// A difference between the hardware that a price is for and the measured hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum PriceDifference {
    Cpus {
        measured: u64,
        priced: u64,
    },
    MemoryBytes {
        measured: u64,
        priced: u64,
    },
    /// Number of reads or writes per second. `measured` is `None` if the system's volume had no limit.
    Iops {
        measured: Option<u64>,
        priced: u64,
    },
    /// The price does not include a volume.
    NoVolume,
    /// The price does not include an instance.
    NoInstance,
}

impl Priced {
    /// Differences between the priced hardware and the hardware on which a system ran or for which it is predicted.
    /// Empty for a server that Dyno did not start and for a price that the plan states itself, because the hardware is
    /// unknown.
    pub(super) fn differences(
        &self,
        run: &Run,
        system: &SystemRecord,
        hardware: Hardware,
    ) -> Vec<PriceDifference> {
        let Some(price) = self.by_list.as_ref().filter(|_| system.origin != Origin::Dsn) else {
            return Vec::new();
        };
        let cpus = price.instance.as_ref().zip(hardware.cpus).and_then(|(instance, measured)| {
            let priced = u64::from(instance.cpus);
            (measured != priced).then_some(PriceDifference::Cpus { measured, priced })
        });
        let memory =
            price.instance.as_ref().zip(memory_bytes(run, system)).and_then(|(instance, measured)| {
                let priced = instance.memory_bytes;
                is_other(measured, priced).then_some(PriceDifference::MemoryBytes { measured, priced })
            });
        let iops = price.volume.as_ref().and_then(|volume| {
            let (measured, priced) = (hardware.read_iops.max(hardware.write_iops), volume.iops);
            measured
                .is_none_or(|measured| is_other(measured, priced))
                .then_some(PriceDifference::Iops { measured, priced })
        });
        let no_volume = price.volume.is_none().then_some(PriceDifference::NoVolume);
        let no_instance = price.instance.is_none().then_some(PriceDifference::NoInstance);
        [cpus, memory, iops, no_volume, no_instance].into_iter().flatten().collect()
    }
}

/// The memory that a system could use: its limit, or all memory of the host.
fn memory_bytes(run: &Run, system: &SystemRecord) -> Option<u64> {
    let limit = system.confinement.as_ref().and_then(|limits| limits.get("memory_bytes")?.as_u64());
    limit.or(run.record.host.memory_bytes)
}

fn is_other(measured: u64, priced: u64) -> bool {
    measured.abs_diff(priced) as f64 > priced as f64 * SAME_SHARE
}
