//! Summaries of sampled stacks: the functions in which the threads of a server were.

use std::collections::BTreeMap;

use dyno_store::{Measured, Run, StackProfile, TrialRecord};
use serde::Serialize;

use super::{CONNECTION, trial_of};
use crate::trial::of_run::tests;

/// Largest number of functions that are reported for a kind of thread.
const FUNCTIONS_MAX: usize = 5;

/// The stacks of a system in a step at a client count, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackSummary {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Number of samples. Each sample has the stacks of all threads.
    pub samples: u32,
    /// Length in seconds of the load during which samples were taken.
    pub seconds: f64,
    /// The program that took the samples.
    pub sampler: String,
    /// Median time that a sample took.
    pub sample_ms_median: f64,
    /// The rate during sampling as a share of the trial's rate; `None` if a rate is 0 or unknown.
    pub rate_share: Option<f64>,
    /// Share of the engine's frames that have no name.
    pub unnamed_share: f64,
    /// Why sampling ended before the load ended; `None` if it did not.
    pub ended_early: Option<String>,
    /// The kinds of threads. Threads that work for clients come first. The other kinds follow in descending order
    /// of their number.
    pub threads: Vec<ThreadSummary>,
}

/// The functions in which the threads of one kind were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadSummary {
    pub kind: String,
    /// Mean number of threads of this kind in a sample.
    pub threads_mean: f64,
    /// Share of the stacks of this kind of thread that wait for a client's next request.
    pub idle_share: f64,
    /// The most frequent functions in the stacks that do not wait for a client.
    pub functions: Vec<FunctionShare>,
}

/// A function and its share of the stacks of a kind of thread. A stack counts for the innermost function that is not a
/// wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionShare {
    pub function: String,
    pub share: f64,
}

/// The summaries of all stacks of a run, by step, client count and system.
pub fn stack_summaries(run: &Run) -> Vec<StackSummary> {
    let cells = tests(run).flat_map(|(step, clients)| {
        run.systems.iter().filter_map(move |system| {
            let trial = trial_of(run, &step.id, clients, &system.id)?;
            Some(summary(trial, trial.stacks.as_ref()?))
        })
    });
    cells.collect()
}

fn summary(trial: &TrialRecord, profile: &StackProfile) -> StackSummary {
    StackSummary {
        step: trial.step_id.clone(),
        clients: trial.clients,
        system: trial.system_id.clone(),
        samples: profile.samples,
        seconds: profile.seconds,
        sampler: profile.sampler.clone(),
        sample_ms_median: profile.sample_ms_median,
        rate_share: rate_share(trial, profile),
        unnamed_share: profile.unnamed_share,
        ended_early: profile.ended_early.clone(),
        threads: threads(profile),
    }
}

fn rate_share(trial: &TrialRecord, profile: &StackProfile) -> Option<f64> {
    let share = profile.operations as f64
        / profile.seconds
        / trial.measured.as_ref().and_then(Measured::operations_per_second)?;
    Some(share).filter(|share| share.is_finite() && *share > 0.0)
}

fn threads(profile: &StackProfile) -> Vec<ThreadSummary> {
    let mut kinds: BTreeMap<&str, BTreeMap<Option<&str>, u64>> = BTreeMap::new();
    for stack in &profile.stacks {
        let function = (!stack.is_idle).then_some(stack.function.as_str());
        let counts = kinds.entry(&stack.thread_kind).or_default();
        *counts.entry(function).or_default() += u64::from(stack.count);
    }
    let mut threads: Vec<ThreadSummary> = kinds
        .into_iter()
        .map(|(kind, counts)| of_kind(kind, &counts, f64::from(profile.samples.max(1))))
        .collect();
    let is_first = |summary: &ThreadSummary| summary.kind == CONNECTION;
    threads.sort_by(|a, b| is_first(b).cmp(&is_first(a)).then(b.threads_mean.total_cmp(&a.threads_mean)));
    threads
}

/// The summary of the threads of one kind. `counts` has the number of stacks for each function. The key `None` counts
/// the stacks that wait for the client.
fn of_kind(kind: &str, counts: &BTreeMap<Option<&str>, u64>, samples: f64) -> ThreadSummary {
    let seen = counts.values().sum::<u64>() as f64;
    let share = |count: u64| if seen > 0.0 { count as f64 / seen } else { 0.0 };
    let mut functions: Vec<FunctionShare> = counts
        .iter()
        .filter_map(|(function, count)| {
            Some(FunctionShare { function: (*function)?.to_owned(), share: share(*count) })
        })
        .collect();
    functions.sort_by(|a, b| b.share.total_cmp(&a.share));
    functions.truncate(FUNCTIONS_MAX);
    ThreadSummary {
        kind: kind.to_owned(),
        threads_mean: seen / samples,
        idle_share: share(counts.get(&None).copied().unwrap_or(0)),
        functions,
    }
}
