//! The evidence on a difference between two systems in a test: what changed per operation, and which of the
//! settings that differ may be the reason.

mod access;
pub(crate) mod answer;
mod change;
mod plans;
pub(crate) mod query_plans;
mod settings;
pub(crate) mod stacks;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use dyno_stats::Interval;
use dyno_store::{CounterRecord, Operation, Run, Trial, TrialId, TrialRecord};
use serde::Serialize;

use self::change::{Amount, change, noise, passes_with_time};
use crate::analysis::Analysis;
use crate::compare::comparison::Finding;
use crate::compare::noise;
use crate::compare::rule::Rule;
use crate::explain::stacks::{FunctionChange, function_changes, stacks_of};
use crate::trial::in_force::SystemNotInForce;
use crate::trial::of_run::{Trials, pairs};

pub use self::access::Access;
pub use self::change::AmountChange;
pub use self::plans::{AccessChange, PlanChange, PlanEvidence, Plans, RefusedPlan};
pub use self::settings::{SettingDifference, Suspect};

/// Counters whose change has a smaller weight than this are not shown.
const WEIGHT_MIN: f64 = 0.01;

/// The servers' counters, by trial.
pub type Counters = HashMap<TrialId, Vec<CounterRecord>>;

/// Evidence about trials that is read from the results file separately from the run.
#[derive(Clone, Debug, Default)]
pub struct TrialEvidence {
    pub counters: Counters,
    pub plans: Plans,
}

/// The test and the two systems whose difference is to be explained.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub base: &'a str,
    pub candidate: &'a str,
    pub step: &'a str,
    pub clients: u32,
}

/// The evidence on a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    pub base: String,
    pub candidate: String,
    pub step: String,
    pub clients: u32,
    pub operation: Operation,
    /// Throughput of the candidate as a multiple of the base's throughput.
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub finding: Finding,
    /// The costs of an operation, such as CPU time and writes, as far as they were measured.
    pub costs: Vec<AmountChange>,
    /// Counters that clearly changed, the most significant first. Three kinds are left out: gauges, counters with less
    /// than one event per 100 operations, and counters of rare events that occur equally often per second in both
    /// systems, because such events depend on time and not on operations.
    pub counters: Vec<AmountChange>,
    /// Number of counters that were compared.
    pub counters_compared: usize,
    /// The servers' plans for the statements of the step.
    pub plans: PlanEvidence,
    /// Functions in which threads that work for a client spent different times per operation on the two systems. These
    /// differences have no verdicts. Empty if the stacks of one of the systems were not sampled.
    pub functions: Vec<FunctionChange>,
    /// Settings that differ. Those that affect the changed costs and counters come first.
    pub settings: Vec<Suspect>,
    /// The requested settings of each system that are not in force, and so have no effect.
    pub not_in_force: Vec<SystemNotInForce>,
}

/// Explains a difference. `settings` are the settings in which the two systems differ. `None` if the two systems
/// have no ratio in this test.
pub fn explain(
    run: &Run,
    analysis: &Analysis,
    evidence: &TrialEvidence,
    settings: Vec<SettingDifference>,
    question: Question<'_>,
) -> Option<Explanation> {
    let Question { base, candidate, step, clients } = question;
    let comparison = analysis.comparison(base, candidate)?;
    let test = comparison.tests.iter().find(|test| test.step == step && test.clients == clients)?;
    let trials = Trials::of(run);
    let of = |system: &str| trials.completed(step, clients, system);
    let pairs_of = |one: &str, other: &str| -> Vec<(&TrialRecord, TrialId, &TrialRecord, TrialId)> {
        pairs(of(one), of(other)).map(|(a, b)| (&a.record, a.id, &b.record, b.id)).collect()
    };
    let rule = &analysis.rule;
    let of_both = pairs_of(base, candidate);
    let control = noise::controls(run, rule)
        .find(|(_, original)| *original == base)
        .map(|(control, original)| pairs_of(original, control))
        .unwrap_or_default();
    let mut costs = costs(&of_both, &control, rule);
    if !is_closed_loop(run, step) {
        costs.retain(|cost| cost.name != WAITING);
    }
    let (mut clear, counters_compared) = counted(&of_both, &control, &evidence.counters, rule);
    clear.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let stacks = |system: &str| stacks_of(run, step, clients, system);
    let functions = stacks(base).zip(stacks(candidate)).map(|(base, own)| function_changes(base, own));
    let explained = |system: &str| explained_trials(run, step, system);
    let plans =
        plans::evidence(&evidence.plans, (base, &explained(base)), (candidate, &explained(candidate)));
    Some(Explanation {
        base: base.to_owned(),
        candidate: candidate.to_owned(),
        step: step.to_owned(),
        clients,
        operation: test.operation,
        ratio: test.ratio?,
        interval: test.interval,
        finding: test.finding,
        plans,
        functions: functions.unwrap_or_default(),
        settings: settings::suspects(settings, &costs, &clear),
        costs,
        counters: clear,
        counters_compared,
        not_in_force: analysis.not_in_force_of(&[base, candidate]),
    })
}

/// The trials of a system in a step, at any number of clients. Query plans are recorded at only one number of clients,
/// which may differ from the number in the question.
fn explained_trials(run: &Run, step: &str, system: &str) -> Vec<TrialId> {
    let is_it = |trial: &&Trial| trial.record.step_id == step && trial.record.system_id == system;
    run.trials.iter().filter(is_it).map(|trial| trial.id).collect()
}

type Pair<'a> = (&'a TrialRecord, TrialId, &'a TrialRecord, TrialId);

fn amount(total: f64, record: &TrialRecord) -> Amount {
    let measured = record.measured.as_ref();
    Amount {
        total,
        operations: measured.map_or(0.0, |measured| measured.counts.operations as f64),
        seconds: measured.map_or(0.0, |measured| measured.seconds),
    }
}

/// The costs of an operation. A cost is left out if a round lacks it.
fn costs(of_both: &[Pair<'_>], control: &[Pair<'_>], rule: &Rule) -> Vec<AmountChange> {
    type Total = fn(&TrialRecord) -> Option<u64>;
    const COSTS: [(&str, Total); 11] = [
        ("server CPU µs", |trial| Some(trial.usage.server_user_cpu_us? + trial.usage.server_system_cpu_us?)),
        ("server user CPU µs", |trial| trial.usage.server_user_cpu_us),
        ("server system CPU µs", |trial| trial.usage.server_system_cpu_us),
        (WAITING, waiting_us),
        ("context switches", |trial| trial.usage.server_context_switches),
        ("reads", |trial| trial.usage.device_reads),
        ("writes", |trial| trial.usage.device_writes),
        ("bytes read", |trial| trial.usage.process_read_bytes),
        ("bytes written", |trial| trial.usage.process_write_bytes),
        ("fsyncs", |trial| trial.usage.device_flushes),
        ("client CPU µs", |trial| Some(trial.usage.client_user_cpu_us? + trial.usage.client_system_cpu_us?)),
    ];
    let amount = |trial: &TrialRecord, total: Total| Some(amount(total(trial)? as f64, trial));
    let rounds = |pairs: &[Pair<'_>], total: Total| -> Option<Vec<(Amount, Amount)>> {
        let of_pair =
            |(base, _, candidate, _): &Pair<'_>| Some((amount(base, total)?, amount(candidate, total)?));
        pairs.iter().map(of_pair).collect()
    };
    let of_cost = |(name, total): (&str, Total)| {
        let noise = rounds(control, total).and_then(|rounds| noise(&rounds, rule));
        change(name, &rounds(of_both, total)?, noise, rule)
    };
    COSTS.into_iter().filter_map(of_cost).collect()
}

/// Whether the clients of a step always have work. In a load of data or in an open loop, clients may have to wait for
/// work.
fn is_closed_loop(run: &Run, step: &str) -> bool {
    let step = run.steps.iter().find(|it| it.id == step);
    step.is_some_and(|it| it.command == "run" && it.rate.is_none() && it.find.is_none())
}

/// The name of the cost that [`waiting_us`] computes.
const WAITING: &str = "waiting µs";

/// The time of all clients minus the server's CPU time. In this time, operations waited for a CPU, a disk, a lock,
/// or the client.
fn waiting_us(trial: &TrialRecord) -> Option<u64> {
    let cpu_us = trial.usage.server_user_cpu_us? + trial.usage.server_system_cpu_us?;
    let seconds = f64::from(trial.clients) * trial.measured.as_ref()?.seconds;
    Some(((seconds * 1e6) as u64).saturating_sub(cpu_us))
}

/// Counters that clearly changed, and the number of counters that were compared.
fn counted(
    pairs: &[Pair<'_>],
    control: &[Pair<'_>],
    counters: &Counters,
    rule: &Rule,
) -> (Vec<AmountChange>, usize) {
    let of_both = by_counter(pairs, counters);
    let of_control = by_counter(control, counters);
    let compared = of_both.len();
    let changes =
        of_both.into_iter().filter(|(_, rounds)| !passes_with_time(rounds)).filter_map(|(name, rounds)| {
            let noise = of_control.get(name).and_then(|rounds| noise(rounds, rule));
            change(name, &rounds, noise, rule)
        });
    (changes.filter(|change| change.is_clear && change.weight >= WEIGHT_MIN).collect(), compared)
}

/// The amounts of each counter that is not a gauge and that both systems have in every round.
fn by_counter<'a>(pairs: &[Pair<'_>], counters: &'a Counters) -> BTreeMap<&'a str, Vec<(Amount, Amount)>> {
    let mut by_name: BTreeMap<&str, Vec<(Amount, Amount)>> = BTreeMap::new();
    for (base, base_id, candidate, candidate_id) in pairs {
        let (Some(of_base), Some(of_candidate)) = (counters.get(base_id), counters.get(candidate_id)) else {
            continue;
        };
        let own: HashMap<&str, &CounterRecord> =
            of_candidate.iter().map(|counter| (counter.name.as_str(), counter)).collect();
        let grown = |counter: &CounterRecord, trial: &TrialRecord| {
            amount((counter.last - counter.first).max(0.0), trial)
        };
        for counter in of_base.iter().filter(|counter| !counter.is_gauge) {
            if let Some(other) = own.get(counter.name.as_str()) {
                let rounds = by_name.entry(counter.name.as_str()).or_default();
                rounds.push((grown(counter, base), grown(other, candidate)));
            }
        }
    }
    by_name.retain(|_, rounds| rounds.len() == pairs.len());
    by_name
}
