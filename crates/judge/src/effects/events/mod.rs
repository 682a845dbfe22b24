//! Steps in which something is done to a system while its load continues: how deep and how long the throughput
//! dips, what fails, and how the systems differ.

mod course;
mod figures;
#[cfg(test)]
mod tests;
mod verdicts;

use std::collections::BTreeMap;

use dyno_stats::median;
use dyno_store::{EventKind, EventOutcome, Operation, Outcome, StepEventRecord, StepRecord};
use serde::Serialize;

use self::course::course;
use self::figures::figures;
pub use self::figures::{Outage, longest_outage};
use crate::analysis::test::RoundValue;
use crate::compare::rule::Rule;
use crate::effects::family::EffectFigure;
use crate::trial::evidence::Evidence;
use crate::trial::of_run;

/// A step with events at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventfulTest {
    pub group: String,
    pub step: String,
    pub clients: u32,
    /// The kind of operation that the step's rate counts.
    pub operation: Operation,
    /// The events of the step, in the plan's order.
    pub events: Vec<PlannedEvent>,
    /// Each system that the step is planned for, in the plan's order.
    pub systems: Vec<EventfulSystem>,
}

/// An event of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedEvent {
    pub id: String,
    pub kind: EventKind,
    /// The statement or command of the event, or its number of seconds or connections.
    pub what: String,
    pub at_seconds: f64,
}

/// A system in a test with events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventfulSystem {
    pub system: String,
    /// The effect of each event, in the order of [`EventfulTest::events`].
    pub events: Vec<EventEffect>,
    /// Throughput, latency and failures of each second.
    pub seconds: Vec<EventSecond>,
}

/// The effect of an event on a system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EventEffect {
    /// Each quantity that at least one round has.
    pub figures: BTreeMap<EventQuantity, EffectFigure>,
    /// Rounds in which the throughput did not return to 95% of its level before the event.
    pub not_recovered: usize,
    /// Rounds in which the event was cut off because the step ended.
    pub cut: usize,
    /// The reasons why the event failed, each once.
    pub failures: Vec<String>,
}

/// A measured quantity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventQuantity {
    /// The missing part of the throughput in the worst second, as a share of the throughput before the event.
    Depth,
    /// Longest time without finished transactions, in seconds; 0 if chance explains it.
    OutageSeconds,
    /// Time from the event's start until a second reaches 95% of the throughput before the event, in seconds; 0 if
    /// no second is below this level.
    RecoverySeconds,
    /// Number of transactions that are missing until the recovery, divided by the transactions per second before
    /// the event. It is therefore in seconds.
    LostSeconds,
    /// Transactions that failed.
    Failed,
    /// The highest 99th percentile of latency of any second, in ms.
    WorstP99Ms,
    /// Time from the event's beginning to its end, in seconds.
    DurationSeconds,
}

/// A second of a test: medians over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EventSecond {
    /// Start of the second, since measuring began.
    pub at_seconds: u32,
    /// Operations per second.
    pub rate: f64,
    /// `None` if, in most rounds, no transaction ended in this second.
    pub p99_ms: Option<f64>,
    /// Transactions that failed.
    pub failed: f64,
}

impl EventQuantity {
    pub const ALL: [Self; 7] = [
        Self::Depth,
        Self::OutageSeconds,
        Self::RecoverySeconds,
        Self::LostSeconds,
        Self::Failed,
        Self::WorstP99Ms,
        Self::DurationSeconds,
    ];

    /// A small amount, about as large as the precision of the quantity. It is added to both figures before their ratio
    /// is computed, because many figures are 0.
    pub fn resolution(self) -> f64 {
        match self {
            Self::Depth | Self::OutageSeconds | Self::DurationSeconds => 0.01,
            Self::RecoverySeconds | Self::LostSeconds => 0.1,
            Self::Failed => 1.0,
            Self::WorstP99Ms => 0.0,
        }
    }
}

/// Every step with events of a run, in run order.
pub(crate) fn eventful_tests(evidence: &Evidence<'_>, base: &str, rule: &Rule) -> Vec<EventfulTest> {
    let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let places =
        of_run::tests(evidence.run).filter(|(step, _)| step.background_of.is_none() && is_wanted(step));
    let mut found: Vec<EventfulTest> =
        places.filter_map(|(step, clients)| test(evidence, step, clients)).collect();
    verdicts::judge(&mut found, evidence.run, base, rule);
    found
}

/// Collects the figures of a test. The ratios of its systems are filled in later. `None` if the step has no events.
fn test(evidence: &Evidence<'_>, step: &StepRecord, clients: u32) -> Option<EventfulTest> {
    let run = evidence.run;
    let is_here = |record: &dyno_store::TrialRecord| record.step_id == step.id && record.clients == clients;
    let with_events =
        run.trials.iter().find(|trial| is_here(&trial.record) && !trial.record.step_events.is_empty())?;
    let planned = |event: &StepEventRecord| PlannedEvent {
        id: event.id.clone(),
        kind: event.kind,
        what: event.what.clone(),
        at_seconds: event.at_seconds,
    };
    let events: Vec<PlannedEvent> = with_events.record.step_events.iter().map(planned).collect();
    let is_planned = |id: &&str| !step.not_for.iter().any(|system| system == id);
    let ids = run.systems.iter().map(|system| system.id.as_str()).filter(is_planned);
    let systems = ids.map(|system| EventfulSystem {
        system: system.to_owned(),
        events: (0..events.len()).map(|number| effect(evidence, step, clients, system, number)).collect(),
        seconds: course(evidence, &step.id, clients, system),
    });
    Some(EventfulTest {
        group: step.group.clone(),
        step: step.id.clone(),
        clients,
        operation: step.operation,
        systems: systems.collect(),
        events,
    })
}

/// The effect of the event with this number on a system.
fn effect(
    evidence: &Evidence<'_>,
    step: &StepRecord,
    clients: u32,
    system: &str,
    number: usize,
) -> EventEffect {
    let mut effect = EventEffect::default();
    let mut rounds: BTreeMap<EventQuantity, Vec<RoundValue>> = BTreeMap::new();
    for trial in evidence.trials.completed(&step.id, clients, system) {
        let Some(event) = trial.record.step_events.get(number) else { continue };
        effect.cut += usize::from(event.outcome == EventOutcome::Cut);
        let course = evidence.checks.get(&trial.id).map_or(&[][..], |check| check.course.as_slice());
        let Some(found) = figures(&trial.record, course, number) else { continue };
        let has = |quantity| found.contains_key(&quantity);
        effect.not_recovered +=
            usize::from(has(EventQuantity::Depth) && !has(EventQuantity::RecoverySeconds));
        for (quantity, value) in found {
            rounds.entry(quantity).or_default().push(RoundValue { round: trial.record.round, value });
        }
    }
    let figure = |(quantity, rounds): (EventQuantity, Vec<RoundValue>)| {
        let values: Vec<f64> = rounds.iter().map(|round| round.value).collect();
        Some((quantity, EffectFigure { median: median(&values)?, rounds, against_base: None }))
    };
    effect.figures = rounds.into_iter().filter_map(figure).collect();
    let failed = evidence.run.trials.iter().map(|trial| &trial.record).filter(|record| {
        record.step_id == step.id
            && (record.clients, record.system_id.as_str()) == (clients, system)
            && record.outcome != Outcome::Completed
    });
    for reason in failed.filter_map(|record| record.step_events.get(number)?.error.clone()) {
        if !effect.failures.contains(&reason) {
            effect.failures.push(reason);
        }
    }
    effect
}
