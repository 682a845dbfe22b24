//! Computes the figures and warnings of a system in a test.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::{Level, Margin, level, median};
use dyno_store::{FindRecord, Outcome, Run, StepRecord, Trial, TrialRecord, UnmetLimit};

use crate::analysis::test::{Cell, CellWarning, CostFigure, CounterFigure, RoundValue, SteadyState};
use crate::search::capacity::{Capacity, capacity};
use crate::trial::check::limit_differences;
use crate::trial::done::Done;
use crate::trial::drivers::driver_doubts;
use crate::trial::evidence::Evidence;
use crate::trial::quantity::{Quantity, ln_rates};
use crate::trial::stall;

/// If a server's CPU time between its slices is at most this share of its CPU time in its slices, there is no warning
/// that it works between slices. Dyno's own reading of the server's counters causes a smaller share. This limit applies
/// even if the rule's margin is smaller.
const REST_SHARE_MIN: f64 = 0.005;

/// A system's rate counts as unsteady if it changes by this factor or more, even if the rates of the other systems
/// change in the same way.
const OWN_CHANGE_MAX: f64 = 1.3;

pub(super) fn cell(
    evidence: &Evidence<'_>,
    step: &StepRecord,
    clients: u32,
    system: &str,
    margin: Margin,
) -> Cell {
    let trials = evidence.trials.completed(&step.id, clients, system);
    let failed = evidence.trials.failed(&step.id, clients, system).len();
    let figures = |quantity: Quantity| -> Vec<RoundValue> {
        let value = |trial: &&Trial| {
            Some(RoundValue { round: trial.record.round, value: evidence.figure(trial, quantity)? })
        };
        trials.iter().filter_map(value).collect()
    };
    let rounds = figures(Quantity::Throughput);
    let costs: BTreeMap<Quantity, CostFigure> = Quantity::ALL
        .iter()
        .map(|(_, quantity)| *quantity)
        .filter(|quantity| *quantity != Quantity::Throughput)
        .filter_map(|quantity| Some((quantity, cost(evidence, trials, quantity)?)))
        .collect();
    let disturbed = evidence.trials.disturbed(&step.id, clients, system).len();
    let counted = trials.iter().filter(|trial| evidence.trials.disturbance(&trial.record).is_some()).count();
    let own_steal = evidence.trials.own_steal(&step.id, clients, system);
    let steady_state =
        (step.seconds.is_some()).then(|| steady_state(evidence, step, clients, trials)).flatten();
    let warnings = [
        steady_state.and_then(no_level),
        rest_share(trials, margin).map(|share| CellWarning::WorksBetweenSlices { share }),
        (disturbed > 0).then_some(CellWarning::Disturbed { rounds: disturbed, of: trials.len() + disturbed }),
        own_steal.map(|share| CellWarning::OwnSteal { share }),
        (counted > 0).then_some(CellWarning::DisturbedCounted { rounds: counted, of: trials.len() }),
        (failed > 0).then_some(CellWarning::Failed { rounds: failed, of: trials.len() + disturbed + failed }),
        stalled(trials),
        not_sustained(trials),
        not_narrow(step, trials),
        saturated(step, trials),
        abandoned(trials),
        rounds_that(trials, Done::Nothing)
            .map(|rounds| CellWarning::NothingDone { rounds, of: trials.len() }),
        rounds_that(trials, Done::NothingDue)
            .map(|rounds| CellWarning::NothingDue { rounds, of: trials.len() }),
        limits_differ(trials),
        drivers(step, trials),
        loaded_again(evidence.run, trials),
    ];
    Cell {
        system: system.to_owned(),
        rate: middle(&rounds),
        rounds,
        failed,
        costs,
        steady_state,
        counters: counters(trials),
        warnings: warnings.into_iter().flatten().collect(),
    }
}

/// The figures of a quantity, with their median. A figure may be a lower bound: its true value may be arbitrarily
/// large. To find out whether this matters, the median is computed a second time with infinity for these figures. If
/// the second median is larger, the first median, which is reported, is only a lower bound.
fn cost(evidence: &Evidence<'_>, trials: &[&Trial], quantity: Quantity) -> Option<CostFigure> {
    let (mut rounds, mut at_most_infinite) = (Vec::new(), Vec::new());
    for trial in trials {
        let Some(figure) = evidence.bound(trial, quantity) else { continue };
        rounds.push(RoundValue { round: trial.record.round, value: figure.value });
        at_most_infinite.push(if figure.is_lower_bound { f64::INFINITY } else { figure.value });
    }
    let median_of_bounds = middle(&rounds)?;
    let is_lower_bound = median(&at_most_infinite).is_none_or(|most| most > median_of_bounds);
    Some(CostFigure { median: median_of_bounds, is_lower_bound, rounds })
}

fn stalled(trials: &[&Trial]) -> Option<CellWarning> {
    let stalls: Vec<f64> =
        trials.iter().filter_map(|trial| Some(stall::longest(&trial.record)?.seconds)).collect();
    let seconds_max = stalls.iter().copied().reduce(f64::max)?;
    Some(CellWarning::Stalled { rounds: stalls.len(), of: trials.len(), seconds_max })
}

fn not_sustained(trials: &[&Trial]) -> Option<CellWarning> {
    let backlogs: Vec<u64> = trials.iter().filter_map(|trial| unsustained_backlog(&trial.record)).collect();
    let events_max = backlogs.iter().copied().max()?;
    Some(CellWarning::NotSustained { rounds: backlogs.len(), of: trials.len(), events_max })
}

/// A trial's backlog, if it shows that the rate was not sustained. A backlog of at most one event per client does not
/// show this, because these events may have become due only just before the end.
fn unsustained_backlog(trial: &TrialRecord) -> Option<u64> {
    trial.backlog.filter(|backlog| *backlog > u64::from(trial.clients))
}

fn capacities(step: &StepRecord, trials: &[&Trial]) -> Vec<Capacity> {
    let of = |find: &FindRecord| trials.iter().filter_map(|trial| capacity(find, &trial.record)).collect();
    step.find.as_ref().map(of).unwrap_or_default()
}

fn not_narrow(step: &StepRecord, trials: &[&Trial]) -> Option<CellWarning> {
    let wide: Vec<f64> = capacities(step, trials)
        .iter()
        .filter(|found| !found.is_narrow)
        .map(|found| found.high_per_second / found.low_per_second)
        .collect();
    let width_max = wide.iter().copied().reduce(f64::max)?;
    Some(CellWarning::NotNarrow { rounds: wide.len(), of: trials.len(), width_max })
}

fn saturated(step: &StepRecord, trials: &[&Trial]) -> Option<CellWarning> {
    let rounds = capacities(step, trials).iter().filter(|found| found.is_saturated).count();
    (rounds > 0).then_some(CellWarning::Saturated { rounds, of: trials.len() })
}

fn abandoned(trials: &[&Trial]) -> Option<CellWarning> {
    let events = trials.iter().filter_map(|trial| trial.record.unfinished).fold(0, u64::saturating_add);
    (events > 0).then_some(CellWarning::Abandoned { events })
}

/// The number of trials with this outcome (`did`); `None` if there are none.
fn rounds_that(trials: &[&Trial], did: Done) -> Option<usize> {
    let rounds = trials.iter().filter(|trial| Done::of(&trial.record) == did).count();
    (rounds > 0).then_some(rounds)
}

fn limits_differ(trials: &[&Trial]) -> Option<CellWarning> {
    let of_trials: Vec<&[UnmetLimit]> = trials
        .iter()
        .map(|trial| limit_differences(&trial.record))
        .filter(|limits| !limits.is_empty())
        .collect();
    let mut differences: Vec<UnmetLimit> = Vec::new();
    for difference in of_trials.iter().copied().flatten() {
        if differences.iter().all(|known| known.limit != difference.limit) {
            differences.push(difference.clone());
        }
    }
    let rounds = of_trials.len();
    (rounds > 0).then_some(CellWarning::LimitsDiffer { rounds, of: trials.len(), differences })
}

fn drivers(step: &StepRecord, trials: &[&Trial]) -> Option<CellWarning> {
    let doubts = trials.iter().map(|trial| driver_doubts(&trial.record, step.rate.is_some()));
    let mut affected = doubts.filter(|doubts| !doubts.is_empty());
    let doubts = affected.next()?;
    Some(CellWarning::Drivers { rounds: 1 + affected.count(), of: trials.len(), doubts })
}

fn loaded_again(run: &Run, trials: &[&Trial]) -> Option<CellWarning> {
    let affected: Vec<&TrialRecord> =
        trials.iter().map(|trial| &trial.record).filter(|record| !record.loaded_again.is_empty()).collect();
    let loads: BTreeSet<&str> =
        affected.iter().flat_map(|record| &record.loaded_again).map(String::as_str).collect();
    let system = &affected.first()?.system_id;
    let was_measured = |load: &str| {
        run.trials.iter().any(|trial| {
            let TrialRecord { step_id, system_id, outcome, .. } = &trial.record;
            step_id == load && system_id == system && *outcome == Outcome::Completed
        })
    };
    Some(CellWarning::LoadedAgain {
        rounds: affected.len(),
        of: trials.len(),
        never_measured: !loads.iter().all(|load| was_measured(load)),
        loads: loads.into_iter().map(str::to_owned).collect(),
    })
}

fn middle(rounds: &[RoundValue]) -> Option<f64> {
    median(&rounds.iter().map(|round| round.value).collect::<Vec<_>>())
}

/// The server's CPU time between its slices, as a share of its CPU time in its slices. `None` if this share is too
/// small to matter: at most the larger of the margin and [`REST_SHARE_MIN`].
fn rest_share(trials: &[&Trial], margin: Margin) -> Option<f64> {
    let share = |trial: &&Trial| {
        let usage = &trial.record.usage;
        let busy = usage.server_user_cpu_us? + usage.server_system_cpu_us?;
        (busy > 0).then_some(trial.record.rest_cpu_us? as f64 / busy as f64)
    };
    let shares: Vec<f64> = trials.iter().filter_map(share).collect();
    median(&shares).filter(|share| *share > margin.relative().max(REST_SHARE_MIN))
}

fn steady_state(
    evidence: &Evidence<'_>,
    step: &StepRecord,
    clients: u32,
    trials: &[&Trial],
) -> Option<SteadyState> {
    let known: Vec<(Level, &Trial)> =
        trials.iter().filter_map(|trial| Some((evidence.level(trial)?, *trial))).collect();
    let changes = |is_without: bool| -> Vec<f64> {
        let wanted = known
            .iter()
            .filter(|(own, trial)| !is_without || has_no_level(*own, trial, evidence, step, clients));
        wanted.map(|(own, _)| own.change).collect()
    };
    let without = changes(true);
    let warmups: Vec<f64> = trials.iter().filter_map(|trial| trial.record.warmup_seconds).collect();
    (!known.is_empty() || !warmups.is_empty()).then(|| SteadyState {
        warmup_seconds: median(&warmups),
        rounds: known.len(),
        rounds_without: without.len(),
        change: median(&without).or_else(|| median(&changes(false))),
    })
}

fn no_level(of: SteadyState) -> Option<CellWarning> {
    let SteadyState { rounds, rounds_without, change, .. } = of;
    let change = change.filter(|_| of.has_level() == Some(false))?;
    Some(CellWarning::NoLevel { rounds: rounds_without, of: rounds, change })
}

/// The plan's counters that at least one trial has.
fn counters(trials: &[&Trial]) -> Vec<CounterFigure> {
    let mut found: BTreeMap<&str, (bool, Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for record in trials.iter().map(|trial| &trial.record) {
        let operations = record.measured.as_ref().map_or(0, |measured| measured.counts.operations);
        for counter in &record.counters {
            let (_, values, peaks) =
                found.entry(&counter.name).or_insert((counter.is_gauge, Vec::new(), Vec::new()));
            if counter.is_gauge {
                values.push(counter.last);
                peaks.extend(counter.peak());
            } else if operations > 0 {
                values.push((counter.last - counter.first) / operations as f64);
            }
        }
    }
    let figure = |(name, (is_gauge, values, peaks)): (&str, (bool, Vec<f64>, Vec<f64>))| {
        Some(CounterFigure {
            name: name.to_owned(),
            is_gauge,
            median: median(&values)?,
            peak: median(&peaks),
        })
    };
    found.into_iter().filter_map(figure).collect()
}

/// Whether a changing rate counts as unsteady. A large change always does. A smaller change does only if the rate
/// also changes relative to the other systems in the same cycles, because a slower host affects all systems alike.
/// Without other systems in the same cycles, only the system's own rate is tested.
fn has_no_level(own: Level, trial: &Trial, evidence: &Evidence<'_>, step: &StepRecord, clients: u32) -> bool {
    let against_others = || match against_others(trial, evidence.run, evidence, step, clients) {
        Some(relative) => level(&relative).is_none_or(|relative| !relative.has_level()),
        None => true,
    };
    own.moves_by(OWN_CHANGE_MAX) || (!own.has_level() && against_others())
}

/// For each slice cycle in which all systems have a rate, the trial's log rate minus the mean log rate of the other
/// systems. `None` if there are no other systems.
fn against_others(
    trial: &Trial,
    run: &Run,
    evidence: &Evidence<'_>,
    step: &StepRecord,
    clients: u32,
) -> Option<Vec<f64>> {
    let others: Vec<BTreeMap<u32, f64>> = run
        .systems
        .iter()
        .filter(|system| system.id != trial.record.system_id)
        .filter_map(|system| {
            let trials = evidence.trials.completed(&step.id, clients, &system.id);
            let same = trials.iter().find(|other| other.record.round == trial.record.round)?;
            Some(ln_rates(&same.record)).filter(|rates| !rates.is_empty())
        })
        .collect();
    let relative = |(cycle, own): (u32, f64)| {
        let rates: Option<Vec<f64>> = others.iter().map(|other| other.get(&cycle).copied()).collect();
        Some(own - rates?.iter().sum::<f64>() / others.len() as f64)
    };
    (!others.is_empty()).then(|| ln_rates(&trial.record).into_iter().filter_map(relative).collect())
}
