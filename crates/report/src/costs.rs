//! What an operation costs.

use dyno_stats::{median, paired_ratio};
use dyno_store::TrialRecord;

use crate::grid::pairs;
use crate::model::{Cost, CostValue, Costs};

/// Every cost of a cell's completed trials, beside the base's.
pub(crate) fn costs(base: &[&TrialRecord], own: &[&TrialRecord]) -> Costs {
    Costs(Cost::ALL.into_iter().map(|cost| (cost, value(cost, base, own))).collect())
}

fn value(cost: Cost, base: &[&TrialRecord], own: &[&TrialRecord]) -> Option<CostValue> {
    let trials: Vec<f64> = own.iter().filter_map(|trial| per_operation(cost, trial)).collect();
    let (base, own): (Vec<f64>, Vec<f64>) = pairs(base, own)
        .filter_map(|(base, own)| per_operation(cost, base).zip(per_operation(cost, own)))
        .unzip();
    Some(CostValue { median: median(&trials)?, trials, relative: paired_ratio(&base, &own) })
}

/// A trial's cost of an operation; none if it was not measured, or if there was no operation.
fn per_operation(cost: Cost, trial: &TrialRecord) -> Option<f64> {
    let operations = trial.measured.as_ref()?.counts.operations;
    let usage = &trial.usage;
    let total = match cost {
        Cost::ServerCpu => usage.server_user_cpu_us? + usage.server_system_cpu_us?,
        Cost::ClientCpu => usage.client_user_cpu_us? + usage.client_system_cpu_us?,
        Cost::ContextSwitches => usage.server_context_switches?,
        Cost::Reads => usage.device_reads?,
        Cost::ReadBytes => usage.process_read_bytes?,
        Cost::WriteBytes => usage.process_write_bytes?,
        Cost::Fsyncs => usage.device_flushes?,
    };
    (operations > 0).then(|| total as f64 / operations as f64)
}
