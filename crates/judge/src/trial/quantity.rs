//! Quantities: the figures of a trial that are compared.

use std::collections::BTreeMap;

use dyno_stats::{Better, Variation};
use dyno_store::TrialRecord;
use serde::Serialize;

use crate::trial::latency::{Latencies, LatencyUs};

/// A figure of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations per second.
    Throughput,
    /// Mean latency of an event, in µs.
    LatencyMean,
    /// Median latency of an event, in µs.
    LatencyP50,
    /// 95th percentile of the latency of an event, in µs.
    LatencyP95,
    /// 99th percentile of the latency of an event, in µs.
    LatencyP99,
    /// The longest latency of an event, in µs.
    LatencyMax,
    /// CPU time of the server per operation, in µs.
    ServerCpu,
    /// CPU time of the load generator per operation, in µs.
    ClientCpu,
    /// CPU time of the connection pooler per operation, in µs.
    PoolerCpu,
    /// Context switches of the server per operation.
    ContextSwitches,
    /// Reads that the device completed per operation.
    Reads,
    /// Writes that the device completed per operation.
    Writes,
    /// KiB that the server read from storage per operation.
    ReadKib,
    /// KiB that the server wrote to storage per operation.
    WrittenKib,
    /// Cache flushes of the device per operation. A flush is caused by an fsync, for example.
    Fsyncs,
    /// MiB that the server read from storage per second.
    ReadRate,
    /// MiB that the server wrote to storage per second.
    WrittenRate,
    /// Largest resident memory of the server, in MiB.
    ServerMemory,
    /// Mean resident memory of the server, in MiB.
    ServerMemoryMean,
    /// Largest resident memory of the load generator, in MiB.
    ClientMemory,
    /// Bytes on disk after the trial.
    DiskBytes,
    /// Coefficient of variation of the throughput within the trial.
    Variation,
}

impl Quantity {
    /// Every quantity, with its name in claims and on the command line.
    pub const ALL: [(&'static str, Self); 22] = [
        ("throughput", Self::Throughput),
        ("latency_mean_us", Self::LatencyMean),
        ("p50_us", Self::LatencyP50),
        ("p95_us", Self::LatencyP95),
        ("p99_us", Self::LatencyP99),
        ("latency_max_us", Self::LatencyMax),
        ("server_cpu_us", Self::ServerCpu),
        ("client_cpu_us", Self::ClientCpu),
        ("pooler_cpu_us", Self::PoolerCpu),
        ("context_switches", Self::ContextSwitches),
        ("reads", Self::Reads),
        ("writes", Self::Writes),
        ("read_kib", Self::ReadKib),
        ("written_kib", Self::WrittenKib),
        ("fsyncs", Self::Fsyncs),
        ("read_mib_per_second", Self::ReadRate),
        ("written_mib_per_second", Self::WrittenRate),
        ("server_memory_mib", Self::ServerMemory),
        ("server_memory_mean_mib", Self::ServerMemoryMean),
        ("client_memory_mib", Self::ClientMemory),
        ("disk_bytes", Self::DiskBytes),
        ("variation", Self::Variation),
    ];

    /// The quantity with this name. `tps`, `qps` and `ops` all mean throughput in the step's own operation, which
    /// is a query, a transaction or a row. Percentiles may omit their unit. `cv` is variation.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tps" | "qps" | "ops" => Some(Self::Throughput),
            "p50" => Some(Self::LatencyP50),
            "p95" => Some(Self::LatencyP95),
            "p99" => Some(Self::LatencyP99),
            "cv" => Some(Self::Variation),
            _ => Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, quantity)| *quantity),
        }
    }

    /// The name of the quantity, which [`Self::from_name`] accepts.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, quantity)| *quantity == self).map_or("", |(name, _)| name)
    }

    /// Whether a higher or a lower figure is better.
    pub fn better(self) -> Better {
        if self == Self::Throughput { Better::Higher } else { Better::Lower }
    }
}

/// A trial's figure of a quantity, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) is_lower_bound: bool,
}

impl From<LatencyUs> for Figure {
    fn from(latency: LatencyUs) -> Self {
        Self { value: latency.us, is_lower_bound: latency.is_lower_bound }
    }
}

/// All measured figures of a trial. Costs per operation are included only if operations finished. `variation` comes
/// from the trial's check, because the trial does not contain it.
pub(crate) fn figures(trial: &TrialRecord, variation: Option<&Variation>) -> BTreeMap<Quantity, Figure> {
    let Some(measured) = trial.measured.as_ref() else { return BTreeMap::new() };
    let (usage, operations) = (&trial.usage, measured.counts.operations);
    let each = |total: Option<u64>, divisor: f64| {
        total.filter(|_| operations > 0).map(|total| total as f64 / divisor / operations as f64)
    };
    let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1_048_576.0);
    let seconds = trial.measured.as_ref().map_or(0.0, |measured| measured.seconds);
    let per_second = |amount: Option<f64>| amount.filter(|_| seconds > 0.0).map(|amount| amount / seconds);
    let sum = |user: Option<u64>, system: Option<u64>| Some(user? + system?);
    let figures = [
        (Quantity::Throughput, throughput(trial)),
        (Quantity::ServerCpu, each(sum(usage.server_user_cpu_us, usage.server_system_cpu_us), 1.0)),
        (Quantity::ClientCpu, each(sum(usage.client_user_cpu_us, usage.client_system_cpu_us), 1.0)),
        (Quantity::PoolerCpu, each(sum(usage.pooler_user_cpu_us, usage.pooler_system_cpu_us), 1.0)),
        (Quantity::ContextSwitches, each(usage.server_context_switches, 1.0)),
        (Quantity::Reads, each(usage.device_reads, 1.0)),
        (Quantity::Writes, each(usage.device_writes, 1.0)),
        (Quantity::ReadKib, each(usage.process_read_bytes, 1024.0)),
        (Quantity::WrittenKib, each(usage.process_write_bytes, 1024.0)),
        (Quantity::Fsyncs, each(usage.device_flushes, 1.0)),
        (Quantity::ReadRate, per_second(mib(usage.process_read_bytes))),
        (Quantity::WrittenRate, per_second(mib(usage.process_write_bytes))),
        (Quantity::ServerMemory, mib(trial.memory.server_memory_peak_bytes)),
        (Quantity::ServerMemoryMean, mib(trial.memory.server_memory_mean_bytes)),
        (Quantity::ClientMemory, mib(trial.memory.client_memory_peak_bytes)),
        (Quantity::DiskBytes, trial.disk_bytes_after.map(|bytes| bytes as f64)),
        (Quantity::Variation, variation.map(|variation| variation.coefficient)),
    ];
    let exact = |value| Figure { value, is_lower_bound: false };
    let figures = figures.into_iter().filter_map(|(quantity, figure)| Some((quantity, exact(figure?))));
    let latencies = Latencies::of([trial]).map(|latencies| latency_figures(&latencies));
    figures.chain(latencies.into_iter().flatten()).collect()
}

fn latency_figures(latencies: &Latencies) -> [(Quantity, Figure); 5] {
    [
        (Quantity::LatencyMean, latencies.mean().into()),
        (Quantity::LatencyP50, latencies.quantile(0.5).into()),
        (Quantity::LatencyP95, latencies.quantile(0.95).into()),
        (Quantity::LatencyP99, latencies.quantile(0.99).into()),
        (Quantity::LatencyMax, latencies.max().into()),
    ]
}

/// Operations per second of a trial. 0 if no operation finished, and `None` if no time was measured. For a capacity
/// search it is the capacity, because the search itself sets the rates of its probes.
pub fn throughput(trial: &TrialRecord) -> Option<f64> {
    if let Some(capacity) = trial.capacity {
        return Some(capacity.per_second);
    }
    trial.measured.as_ref()?.operations_per_second()
}

/// The logarithm of each slice's rate, by cycle; empty if the trial finished no operation.
///
/// A slice without operations, for example during a stall of a disk, counts as half an operation (Haldane, "The
/// estimation and significance of the logarithm of a ratio of frequencies", Annals of Human Genetics 20, 1956). The
/// log ratio of its cycle is therefore extreme, and the trimmed mean of the cycles leaves it out. If such slices had
/// no ratio at all, stalls would be ignored. If at least half of the slices have no operations, extreme log ratios
/// would remain in the trimmed mean, so the result is empty.
pub(crate) fn ln_rates(trial: &TrialRecord) -> BTreeMap<u32, f64> {
    let slices = || trial.slices.iter().filter(|slice| slice.seconds > 0.0);
    let without = slices().filter(|slice| slice.operations <= 0.0).count();
    if 2 * without >= slices().count() {
        return BTreeMap::new();
    }
    let rate =
        |operations: f64, seconds: f64| if operations > 0.0 { operations / seconds } else { 0.5 / seconds };
    let ln_rates = slices().map(|slice| (slice.cycle, rate(slice.operations, slice.seconds).ln()));
    // A damaged results file may have slices with no duration or with infinite work.
    ln_rates.filter(|(_, ln_rate)| ln_rate.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use dyno_store::SliceRecord;

    use super::*;
    use crate::sample;

    #[test]
    fn slices_of_a_damaged_file_that_have_no_rate_are_left_out() {
        let slice = |cycle, operations, seconds| SliceRecord { cycle, started_us: 0, seconds, operations };
        let slices = vec![
            slice(0, f64::INFINITY, 0.1),
            slice(1, 100.0, 0.0),
            slice(2, 1.0, f64::INFINITY),
            slice(3, 100.0, 0.1),
        ];
        let rates = ln_rates(&TrialRecord { slices, ..TrialRecord::default() });
        assert_eq!(rates, BTreeMap::from([(3, 1000.0_f64.ln())]));
    }

    #[test]
    fn every_name_is_of_one_quantity() {
        for (name, quantity) in Quantity::ALL {
            assert_eq!(Quantity::from_name(name), Some(quantity));
            assert_eq!(quantity.name(), name);
        }
        assert_eq!(Quantity::from_name("tps"), Some(Quantity::Throughput));
        assert_eq!(Quantity::from_name("speed"), None);
    }

    #[test]
    fn costs_are_of_an_operation() {
        let trial = sample::trial("point", "a", 2, 0, 1000.0);
        for (quantity, expected) in [
            (Quantity::Throughput, Some(1000.0)),
            (Quantity::ServerCpu, Some(40.0)),
            (Quantity::WrittenKib, Some(2.0)),
            (Quantity::WrittenRate, Some(2000.0 / 1024.0)),
            (Quantity::ReadRate, None),
            (Quantity::LatencyP95, Some(2000.0)),
            (Quantity::Fsyncs, None),
            (Quantity::Variation, None),
        ] {
            assert_eq!(
                figures(&trial, None).get(&quantity).map(|figure| figure.value),
                expected,
                "{quantity:?}"
            );
        }
    }

    #[test]
    fn the_throughput_of_a_search_is_the_capacity() {
        let mut trial = sample::trial("find", "a", 2, 0, 1000.0);
        let of = dyno_store::CapacityRecord {
            per_second: 1500.0,
            low_per_second: 1450.0,
            high_per_second: 1550.0,
        };
        trial.capacity = Some(of);
        let figures = figures(&trial, None);
        assert_eq!(figures.get(&Quantity::Throughput).map(|figure| figure.value), Some(1500.0));
        assert_eq!(figures.get(&Quantity::ServerCpu).map(|figure| figure.value), Some(40.0));
    }

    #[test]
    fn nothing_done_is_0_and_has_no_cost() {
        let mut trial = sample::trial("point", "a", 4, 0, 0.0);
        let found = figures(&trial, None);
        assert_eq!(found.get(&Quantity::Throughput).map(|figure| figure.value), Some(0.0));
        assert_eq!(found.get(&Quantity::ServerCpu), None);
        trial.measured.as_mut().unwrap().seconds = 0.0;
        assert_eq!(figures(&trial, None).get(&Quantity::Throughput), None, "in no time there is no rate");
    }

    #[test]
    fn a_slice_without_operations_counts_among_others_and_not_by_itself() {
        let mut trial = sample::trial("point", "a", 4, 0, 1000.0);
        let mut count = |rates: &[f64]| {
            sample::slice(&mut trial, rates);
            ln_rates(&trial).len()
        };
        assert_eq!(count(&[100.0, 0.0, 100.0, 100.0]), 4);
        assert_eq!(count(&[100.0, 0.0, 0.0, 100.0]), 0);
        assert_eq!(count(&[0.0; 4]), 0);
    }
}
