//! Costs in the reports: costs of an operation, I/O per second, and memory.

use std::collections::BTreeMap;

use dyno_judge::{CostRatio, Quantity, RoundValue};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Cost {
    /// The server's CPU time, user and system, in µs.
    #[serde(rename = "server_cpu_us_per_operation")]
    ServerCpu,
    /// The load process's CPU time in µs. For an in-process engine, this time is part of [`Cost::ServerCpu`].
    #[serde(rename = "client_cpu_us_per_operation")]
    ClientCpu,
    /// CPU time of the connection pooler in µs. Only systems with a pooler have one.
    #[serde(rename = "pooler_cpu_us_per_operation")]
    PoolerCpu,
    /// The server's context switches.
    #[serde(rename = "context_switches_per_operation")]
    ContextSwitches,
    /// Reads that the device under the data completed.
    #[serde(rename = "reads_per_operation")]
    Reads,
    /// Writes that the device under the data completed.
    #[serde(rename = "writes_per_operation")]
    Writes,
    /// KiB that the server's process read from storage.
    #[serde(rename = "read_kib_per_operation")]
    ReadKib,
    /// KiB that the server's process wrote to storage.
    #[serde(rename = "written_kib_per_operation")]
    WrittenKib,
    /// Cache flushes that the device completed. Each fsync causes one.
    #[serde(rename = "fsyncs_per_operation")]
    Fsyncs,
    /// MiB that the server's process read from storage in a second.
    #[serde(rename = "read_mib_per_second")]
    ReadRate,
    /// MiB that the server's process wrote to storage in a second.
    #[serde(rename = "written_mib_per_second")]
    WrittenRate,
    /// Largest resident memory of the server's processes, in MiB. For an in-process engine, it is the resident memory
    /// of the load process.
    #[serde(rename = "server_memory_mib")]
    ServerMemory,
    /// Mean resident memory of the processes of [`Cost::ServerMemory`], in MiB.
    #[serde(rename = "server_memory_mean_mib")]
    ServerMemoryMean,
    /// Largest resident memory of the load process, in MiB.
    #[serde(rename = "client_memory_mib")]
    ClientMemory,
}

impl Cost {
    /// Every cost, in the order of the reports.
    pub const ALL: [Self; 14] = [
        Self::ServerCpu,
        Self::ClientCpu,
        Self::PoolerCpu,
        Self::ContextSwitches,
        Self::Reads,
        Self::Writes,
        Self::ReadKib,
        Self::WrittenKib,
        Self::Fsyncs,
        Self::ReadRate,
        Self::WrittenRate,
        Self::ServerMemory,
        Self::ServerMemoryMean,
        Self::ClientMemory,
    ];

    pub(crate) fn quantity(self) -> Quantity {
        match self {
            Self::ServerCpu => Quantity::ServerCpu,
            Self::ClientCpu => Quantity::ClientCpu,
            Self::PoolerCpu => Quantity::PoolerCpu,
            Self::ContextSwitches => Quantity::ContextSwitches,
            Self::Reads => Quantity::Reads,
            Self::Writes => Quantity::Writes,
            Self::ReadKib => Quantity::ReadKib,
            Self::WrittenKib => Quantity::WrittenKib,
            Self::Fsyncs => Quantity::Fsyncs,
            Self::ReadRate => Quantity::ReadRate,
            Self::WrittenRate => Quantity::WrittenRate,
            Self::ServerMemory => Quantity::ServerMemory,
            Self::ServerMemoryMean => Quantity::ServerMemoryMean,
            Self::ClientMemory => Quantity::ClientMemory,
        }
    }
}

/// The value of each cost; `None` for a cost that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Costs(pub BTreeMap<Cost, Option<CostValue>>);

impl Costs {
    /// A cost, if it was measured.
    pub fn get(&self, cost: Cost) -> Option<&CostValue> {
        self.0.get(&cost)?.as_ref()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostValue {
    /// Median of the rounds.
    pub median: f64,
    /// The cost in each completed round in which it is known, in order.
    pub rounds: Vec<RoundValue>,
    /// The cost as a multiple of the base's cost. `None` for the base itself, and if the base's cost is unknown or
    /// 0. A cost has no verdict.
    pub relative: Option<CostRatio>,
    /// Whether `relative` equals the quotient of `median` and the base's median, which reports show beside it.
    /// `relative` may differ from the quotient, because it is the median of the rounds' ratios. True if there is no
    /// `relative`.
    #[serde(skip)]
    pub is_quotient: bool,
}
