//! Runs rounds until there are enough.

use std::time::{Duration, Instant};

use dyno_judge::{Analysis, Rule, analyse, check_trials};
use dyno_stats::ROUNDS_MIN;
use dyno_store::{AttemptRecord, RunChoice, RunId, Store, StoreError};

use super::session::RunSession;
use crate::plan::{Decision, Plan, Rounds};
use crate::run::error::{RoundAbort, RunError};
use crate::run::observer::Event;
use crate::run::options::{RunOutcome, Task};
use crate::run::prepare::Executed;
use crate::run::record::{now_ms, this_host};

impl RunSession<'_> {
    /// Runs the remaining rounds.
    ///
    /// # Errors
    /// The results file cannot be written, or the base does not start.
    pub(crate) fn carry_out(mut self, executed: Executed) -> Result<RunOutcome, RunError> {
        let began = Instant::now();
        let spent_before = executed.spent_ms as f64 / 1000.0;
        let (mut number, mut complete) = (executed.next_round, executed.rounds_complete);
        while let Some(rounds) = self.rounds_wanted(complete, spent_before + began.elapsed().as_secs_f64())? {
            self.plan_rounds(number, complete, rounds);
            self.round_began = Instant::now();
            self.observer.observe(&Event::RoundStarted { round: number, of: rounds });
            if !self.completes_round(number)? {
                break;
            }
            self.forecast.round_ended(self.round_began.elapsed().as_secs_f64());
            number += 1;
            complete += 1;
        }
        if !self.outcome.interrupted {
            self.crash_tests()?;
        }
        Ok(self.outcome)
    }

    /// Runs the one round of a task, and records its host.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub(crate) fn carry_out_task(mut self, task: &Task) -> Result<RunOutcome, RunError> {
        self.plan_rounds(task.round, 0, 1);
        self.round_began = Instant::now();
        self.observer.observe(&Event::RoundStarted { round: task.round, of: self.plan.rounds.max() });
        if !self.completes_round(task.round)? {
            return Ok(self.outcome);
        }
        let attempt = AttemptRecord {
            round: task.round,
            node: task.node.clone(),
            host: Some(this_host()),
            ended_at_ms: now_ms(),
            loss: None,
        };
        self.store.put_attempt(self.run, &attempt)?;
        Ok(self.outcome)
    }

    /// Runs a round. Returns whether it is complete. If not, the user stopped the run.
    fn completes_round(&mut self, number: u32) -> Result<bool, RunError> {
        match self.round(number) {
            Ok(()) => Ok(true),
            Err(RoundAbort::Stopped) => {
                self.outcome.interrupted = true;
                Ok(false)
            }
            Err(RoundAbort::Failed(error)) => Err(error),
        }
    }

    /// The number of rounds to run, as far as known; `None` if the complete rounds suffice. The run has taken
    /// `spent_seconds` so far.
    fn rounds_wanted(&mut self, complete: u32, spent_seconds: f64) -> Result<Option<u32>, RunError> {
        // Not before the first round, because its failed trials show which systems did not start.
        if complete > 0 && self.options.needs_all_systems && !self.outcome.not_started.is_empty() {
            return Ok(None);
        }
        let (min, max) = (self.plan.rounds.min(), self.plan.rounds.max());
        // Here time decides and not the results, so skipped looks keep their part of the error probability.
        let is_late = |limit: Duration| spent_seconds + self.forecast.round_seconds() > limit.as_secs_f64();
        if complete >= min.max(ROUNDS_MIN as u32) && self.options.time_max.is_some_and(is_late) {
            return Ok(None);
        }
        let wanted = match self.plan.rounds {
            Rounds::Fixed(rounds) => rounds,
            _ if complete < min => min,
            Rounds::UntilDecided(decision) => {
                next_look(self.plan, complete, decision, |rule| self.analyse(rule))?
            }
            Rounds::Budget { seconds } => {
                let left = seconds - spent_seconds;
                if self.divided.is_none() {
                    self.divide(seconds, complete, left)?;
                }
                // As many rounds as fit, and at least as many as an exact interval needs.
                let fitting = complete + (left / self.forecast.round_seconds()).max(0.0) as u32;
                fitting.max(ROUNDS_MIN as u32)
            }
        };
        Ok((complete < wanted.min(max)).then_some(wanted.min(max)))
    }

    /// Analyses the run so far.
    pub(crate) fn analyse(&self, rule: &Rule) -> Result<Analysis, StoreError> {
        analyse_run(self.store, self.run, rule)
    }
}

/// The number of rounds until the next look. `complete` of them if all verdicts are decided.
///
/// Judging after every round would raise the probability of a false alarm. Therefore there are few looks, fixed in
/// advance, which share the error probability (see [`Decision::looks`]).
pub(crate) fn next_look(
    plan: &Plan,
    complete: u32,
    decision: Decision,
    analyse: impl Fn(&Rule) -> Result<Analysis, StoreError>,
) -> Result<u32, RunError> {
    let Decision { rounds_max: max, alpha, margin } = decision;
    let Some(looks) = decision.looks() else { return Ok(max) };
    let base = &plan.systems[plan.base].id;
    let rule = Rule { alpha, margin, ..Rule::default() };
    if looks.at.contains(&(complete as usize)) && analyse(&rule)?.is_decided(base) {
        return Ok(complete);
    }
    Ok(looks.at.iter().map(|at| *at as u32).find(|at| *at > complete).unwrap_or(max))
}

/// Analyses a run so far.
pub(crate) fn analyse_run(store: &Store, run: RunId, rule: &Rule) -> Result<Analysis, StoreError> {
    let run = store.load_run(RunChoice::Id(run))?;
    Ok(analyse(&run, &check_trials(store, &run)?, rule))
}
