//! A run whose rounds are run by other hosts: which rounds are still needed, and how their results are collected.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dyno_store::{AttemptRecord, Ending, Outcome, ResumptionRecord, RunChoice, RunId, Store, StoreError};

use super::error::RunError;
use super::options::{RunOptions, RunOutcome};
use super::prepare::{Executed, find_interrupted, resumption};
use super::record::{self, now_ms};
use super::round::{analyse_run, next_look};
use crate::plan::{Plan, Rounds, Source};

/// A run whose rounds are measured by other processes, the tasks. Each task measures one round and has its own results
/// file. This process collects the rounds in its results file.
#[derive(Debug)]
pub struct Spread<'a> {
    plan: &'a Plan,
    store: Store,
    run: RunId,
    seed: u64,
    id: String,
    /// Number of complete rounds. A round that this process has added with [`Self::join`] counts even if it has
    /// failed trials.
    complete: u32,
    trials_per_round: usize,
}

impl<'a> Spread<'a> {
    /// Begins a run. With `options.resume`, continues the last run of the plan.
    ///
    /// # Errors
    /// The results file cannot be written, there is no run to resume, or the plan's rounds cannot be spread.
    pub fn begin(plan: &'a Plan, options: &RunOptions<'_>, spread_id: &str) -> Result<Self, RunError> {
        Self::check(plan)?;
        let mut store = Store::open(&options.results)?;
        let (run, seed, spread_id, complete) = if options.resume {
            let earlier = find_interrupted(plan, &store)?;
            let Some(spread_id) = earlier.record.spread_id.clone() else {
                let reason = format!("run {} was on one host; continue without --on", earlier.id);
                return Err(RunError::Resume { plan: plan.name.clone(), reason });
            };
            // The submitting host measures nothing, so differences of this host do not matter.
            let resumption = ResumptionRecord { differences: Vec::new(), ..resumption(&earlier) };
            store.resume_run(earlier.id, &resumption)?;
            (earlier.id, earlier.record.seed, spread_id, Executed::of(plan, &earlier).rounds_complete)
        } else {
            let mut record = record::run(plan, options);
            record.spread_id = Some(spread_id.to_owned());
            (super::begin_as(plan, &record, &mut store)?, options.seed, spread_id.to_owned(), 0)
        };
        let trials_per_round =
            crate::schedule::blocks(plan).iter().map(|block| plan.systems_of(block.step).count()).sum();
        Ok(Self { plan, store, run, seed, id: spread_id, complete, trials_per_round })
    }

    /// Checks that rounds can be run on different hosts: they must not depend on each other or share a server.
    ///
    /// # Errors
    /// The error says why the rounds cannot be spread.
    pub fn check(plan: &Plan) -> Result<(), RunError> {
        let cannot = |reason: String| Err(RunError::Spread { plan: plan.name.clone(), reason });
        if let Rounds::Budget { .. } = plan.rounds {
            return cannot(
                "a time budget is divided on one host; give a number of rounds with --rounds".to_owned(),
            );
        }
        if plan.crash.is_some() {
            return cannot("its crash tests follow the rounds on one host; leave `[crash]` out".to_owned());
        }
        match plan.systems.iter().find(|system| matches!(system.source, Source::Dsn { .. })) {
            Some(system) => cannot(format!(
                "the server of system `{}` runs already, and all hosts would load it at the same time",
                system.id
            )),
            None => Ok(()),
        }
    }

    pub fn run(&self) -> RunId {
        self.run
    }

    /// The run's seed, which every task needs.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The id that connects the run with the files of its tasks.
    pub fn spread_id(&self) -> &str {
        &self.id
    }

    /// Returns the number of complete rounds, and the largest number of rounds that may be needed.
    pub fn progress(&self) -> (u32, u32) {
        (self.complete, self.plan.rounds.max())
    }

    /// Returns the numbers of the rounds to run next, all at the same time. Returns an empty list if there are
    /// enough rounds. Numbers that were never used come first. A round with failed trials is replaced by a round
    /// with a new number.
    ///
    /// # Errors
    /// The results file cannot be read.
    pub fn rounds_to_run(&self) -> Result<Vec<u32>, RunError> {
        let wanted = match self.plan.rounds {
            Rounds::UntilDecided(decision) if self.complete >= self.plan.rounds_min() => {
                let analyse = |rule: &_| analyse_run(&self.store, self.run, rule);
                next_look(self.plan, self.complete, decision, &[], analyse)?.next
            }
            _ => self.plan.rounds_min(),
        };
        let used = self.rounds_used()?;
        let missing = wanted.min(self.plan.rounds.max()).saturating_sub(self.complete);
        Ok((0..).filter(|round| !used.contains(round)).take(missing as usize).collect())
    }

    /// Adds the round that a task has measured. Returns the attempt that measured the round, or `None` if this run
    /// already has the round.
    ///
    /// # Errors
    /// The file does not belong to a task of this run, or this run's file cannot be written.
    pub fn join(&mut self, file: &Path) -> Result<Option<AttemptRecord>, StoreError> {
        let source = Store::open_read_only(file)?;
        let joined = self.store.join(self.run, &source)?;
        self.complete += joined.len() as u32;
        let delivered = |attempt: &AttemptRecord| joined.contains(&attempt.round) && attempt.loss.is_none();
        Ok(self.store.attempts(self.run)?.into_iter().find(delivered))
    }

    /// Records an attempt that had no result.
    ///
    /// # Errors
    /// The results file cannot be written.
    pub fn lost(&mut self, round: u32, node: Option<String>, loss: String) -> Result<(), StoreError> {
        let attempt = AttemptRecord { round, node, host: None, ended_at_ms: now_ms(), loss: Some(loss) };
        self.store.put_attempt(self.run, &attempt)
    }

    /// Records the run's end.
    ///
    /// # Errors
    /// The results file cannot be written.
    pub fn end(&mut self, ending: Ending) -> Result<RunOutcome, RunError> {
        self.store.finish_run(self.run, ending, now_ms())?;
        let run = self.store.load_run(RunChoice::Id(self.run))?;
        let completed_trials =
            run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed).count();
        let failed_trials = run.trials.len() - completed_trials;
        let planned = self.trials_per_round * self.plan.rounds_min() as usize;
        Ok(RunOutcome {
            run: self.run,
            interrupted: ending == Ending::Interrupted,
            planned_trials: planned.max(run.trials.len()),
            completed_trials,
            failed_trials,
            not_started: Vec::new(),
            failed_crash_tests: Vec::new(),
            given: BTreeMap::new(),
        })
    }

    fn rounds_used(&self) -> Result<BTreeSet<u32>, RunError> {
        let run = self.store.load_run(RunChoice::Id(self.run))?;
        Ok(run.trials.iter().chain(&run.superseded).map(|trial| trial.record.round).collect())
    }
}
