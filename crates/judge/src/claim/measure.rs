//! What a claim measures: a quantity, or a counter of the server.

use std::collections::BTreeMap;

use dyno_store::{TrialRecord, is_counter};

use crate::compare::pair::{Ratios, SystemTrials};
use crate::trial::quantity::Quantity;

/// The prefix of a counter's name in a claim.
const COUNTER: &str = "counter.";

/// What a call measures.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measure {
    Quantity(Quantity),
    /// The name that the server gives to a counter, with or without the prefix of its source (such as
    /// `global_status.`). The figure of a counter is its change per operation. The figure of a gauge is its value at
    /// the end of the measurement.
    Counter(String),
}

impl Measure {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name.strip_prefix(COUNTER) {
            Some(counter) => (!counter.is_empty()).then(|| Self::Counter(counter.to_owned())),
            None => Quantity::from_name(name).map(Self::Quantity),
        }
    }

    pub(super) fn counter(&self) -> Option<&str> {
        match self {
            Self::Quantity(_) => None,
            Self::Counter(name) => Some(name),
        }
    }

    /// A system's value, by round.
    pub(super) fn values(&self, of: SystemTrials<'_>) -> BTreeMap<u32, f64> {
        let value = |trial: &&dyno_store::Trial| {
            let value = match self {
                Self::Quantity(quantity) => of.evidence.figure(trial, *quantity),
                Self::Counter(name) => counter(&trial.record, name),
            };
            Some((trial.record.round, value?))
        };
        of.trials.iter().filter_map(value).collect()
    }

    /// The ratio of two systems, by round. It is computed from slices if the trials have slices.
    pub(super) fn ratios(&self, above: SystemTrials<'_>, below: SystemTrials<'_>) -> BTreeMap<u32, f64> {
        if let Self::Quantity(quantity) = self {
            let ratios = Ratios::of(below, above, *quantity);
            return ratios.rounds().iter().map(|round| (round.round, round.ln_ratio.exp())).collect();
        }
        let below = self.values(below);
        let ratio = |(round, value): (u32, f64)| Some((round, value / below.get(&round)?));
        self.values(above).into_iter().filter_map(ratio).collect()
    }
}

/// A trial's figure of a counter. `None` if the trial has no counter with this name, or several. For a counter that is
/// not a gauge, also `None` if the trial finished no operation.
fn counter(trial: &TrialRecord, name: &str) -> Option<f64> {
    let mut found = trial.counters.iter().filter(|counter| is_counter(name, &counter.name));
    let counter = found.next().filter(|_| found.next().is_none())?;
    let operations = trial.measured.as_ref()?.counts.operations;
    if counter.is_gauge {
        return Some(counter.last);
    }
    (operations > 0).then(|| (counter.last - counter.first) / operations as f64)
}
