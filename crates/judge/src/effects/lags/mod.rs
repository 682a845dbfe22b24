//! How far the replicas of systems lag behind, and how much CPU time they use, while a step's load runs.

#[cfg(test)]
mod tests;
mod verdicts;

use std::collections::BTreeMap;

use dyno_stats::median;
use dyno_store::{ReplicaRecord, ReplicationMode, StepRecord, TrialRecord};
use serde::Serialize;

use crate::analysis::test::RoundValue;
use crate::compare::rule::Rule;
use crate::effects::family::EffectFigure;
use crate::trial::evidence::Evidence;
use crate::trial::of_run;

/// A step at a client count in which systems have replicas.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LagTest {
    pub group: String,
    pub step: String,
    pub clients: u32,
    /// The system that the other systems are compared with: the base, or the first system with replicas if the base
    /// has none.
    pub reference: String,
    /// The systems with replicas, in the plan's order.
    pub systems: Vec<ReplicatedSystem>,
}

/// A system with replicas in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicatedSystem {
    pub system: String,
    pub mode: ReplicationMode,
    pub replicas: usize,
    /// Time for which the plan makes replicas delay the changes that they have received.
    pub delay_seconds: u32,
    /// Each quantity that at least one round has.
    pub figures: BTreeMap<LagQuantity, EffectFigure>,
}

/// A measured quantity of replicas. In each round, the highest value among a system's replicas counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LagQuantity {
    /// Median lag, in ms. A lag is the time from a commit on the primary until the replica shows it.
    LagP50Ms,
    /// 99th percentile of the lag, in ms.
    LagP99Ms,
    /// Maximum of the lag, in ms.
    LagMaxMs,
    /// Longest lag behind the primary that the replica itself reported, in seconds.
    SaidMaxSeconds,
    /// Time from the end of the load until the replica had applied everything, in seconds.
    CatchUpSeconds,
    /// CPU time of a replica per operation of the load, in µs.
    CpuUsPerOperation,
}

impl LagQuantity {
    pub const ALL: [Self; 6] = [
        Self::LagP50Ms,
        Self::LagP99Ms,
        Self::LagMaxMs,
        Self::SaidMaxSeconds,
        Self::CatchUpSeconds,
        Self::CpuUsPerOperation,
    ];

    /// Whether systems are compared by this quantity. They are not compared by the lag that replicas themselves report,
    /// because servers define this lag differently.
    fn is_compared(self) -> bool {
        !matches!(self, Self::SaidMaxSeconds)
    }

    /// A small amount, about as large as the precision of the quantity. It is added to both figures before their ratio
    /// is computed, because many figures are 0.
    pub fn resolution(self) -> f64 {
        match self {
            Self::LagP50Ms | Self::LagP99Ms | Self::LagMaxMs => 0.2,
            Self::SaidMaxSeconds => 1.0,
            Self::CatchUpSeconds => 0.01,
            Self::CpuUsPerOperation => 0.0,
        }
    }

    /// The value of this quantity for a replica in a trial.
    fn of(self, trial: &TrialRecord, replica: &ReplicaRecord) -> Option<f64> {
        match self {
            Self::LagP50Ms => replica.lag_p50_ms,
            Self::LagP99Ms => replica.lag_p99_ms,
            Self::LagMaxMs => replica.lag_max_ms,
            Self::SaidMaxSeconds => replica.said_max_seconds,
            Self::CatchUpSeconds => replica.catch_up_seconds,
            Self::CpuUsPerOperation => {
                let operations = trial.measured.as_ref()?.counts.operations;
                (operations > 0).then_some(replica.cpu_us()? as f64 / operations as f64)
            }
        }
    }
}

/// Every test of a run in which systems have replicas, in run order.
pub(crate) fn lag_tests(evidence: &Evidence<'_>, base: &str, rule: &Rule) -> Vec<LagTest> {
    let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let places =
        of_run::tests(evidence.run).filter(|(step, _)| step.background_of.is_none() && is_wanted(step));
    let mut found: Vec<LagTest> =
        places.filter_map(|(step, clients)| test(evidence, step, clients, base)).collect();
    verdicts::judge(&mut found, evidence.run, rule);
    found
}

/// Collects the figures of a test. The ratios of its systems are filled in later. `None` if no system has replicas.
fn test(evidence: &Evidence<'_>, step: &StepRecord, clients: u32, base: &str) -> Option<LagTest> {
    let ids = evidence.run.systems.iter().map(|system| system.id.as_str());
    let systems: Vec<ReplicatedSystem> =
        ids.filter_map(|system| replicated(evidence, &step.id, clients, system)).collect();
    let reference = systems.iter().find(|system| system.system == base).or(systems.first())?;
    Some(LagTest {
        group: step.group.clone(),
        step: step.id.clone(),
        clients,
        reference: reference.system.clone(),
        systems,
    })
}

fn replicated(evidence: &Evidence<'_>, step: &str, clients: u32, system: &str) -> Option<ReplicatedSystem> {
    let mut rounds: BTreeMap<LagQuantity, Vec<RoundValue>> = BTreeMap::new();
    let mut latest: Option<&TrialRecord> = None;
    for trial in evidence.trials.completed(step, clients, system) {
        let record = &trial.record;
        if record.replicas.is_empty() {
            continue;
        }
        latest = Some(record);
        for quantity in LagQuantity::ALL {
            let values = record.replicas.iter().filter_map(|replica| quantity.of(record, replica));
            if let Some(value) = values.reduce(f64::max) {
                rounds.entry(quantity).or_default().push(RoundValue { round: record.round, value });
            }
        }
    }
    let latest = latest?;
    let figure = |(quantity, rounds): (LagQuantity, Vec<RoundValue>)| {
        let values: Vec<f64> = rounds.iter().map(|round| round.value).collect();
        Some((quantity, EffectFigure { median: median(&values)?, rounds, against_base: None }))
    };
    Some(ReplicatedSystem {
        system: system.to_owned(),
        mode: latest.replicas[0].mode,
        replicas: latest.replicas.len(),
        delay_seconds: latest.replicas[0].delay_seconds,
        figures: rounds.into_iter().filter_map(figure).collect(),
    })
}
