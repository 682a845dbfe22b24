//! How late the replicas of systems are, and what they use, while a step's load runs.

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
    /// The system with replicas that others are compared with: the base, or the first that has some.
    pub reference: String,
    /// The systems with replicas, in the plan's order.
    pub systems: Vec<ReplicatedSystem>,
}

/// A system with replicas in such a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicatedSystem {
    pub system: String,
    pub mode: ReplicationMode,
    pub replicas: usize,
    /// Time for which replicas hold back what they have received, by the plan.
    pub delay_seconds: u32,
    /// Each quantity that is known of at least one round.
    pub figures: BTreeMap<LagQuantity, EffectFigure>,
}

/// What is measured of replicas. In each round, that of the replica with the highest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LagQuantity {
    /// Median lag of tokens, in ms.
    LagP50Ms,
    /// 99th percentile.
    LagP99Ms,
    /// Maximum.
    LagMaxMs,
    /// Longest time that the server itself said it was behind, in seconds.
    SaidMaxSeconds,
    /// Time from the end of the load until the replica had everything, in seconds.
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

    /// Whether systems are compared by it. Servers say different things by the same word.
    fn is_compared(self) -> bool {
        !matches!(self, Self::SaidMaxSeconds)
    }

    /// What is added to both sides of a ratio: about the precision of the quantity.
    pub fn resolution(self) -> f64 {
        match self {
            Self::LagP50Ms | Self::LagP99Ms | Self::LagMaxMs => 0.2,
            Self::SaidMaxSeconds => 1.0,
            Self::CatchUpSeconds => 0.01,
            Self::CpuUsPerOperation => 0.0,
        }
    }

    /// The quantity of a replica in a trial.
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

/// A test, without ratios; `None` if no system has replicas.
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
