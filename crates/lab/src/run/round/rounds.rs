//! Runs rounds until there are enough.

use std::time::{Duration, Instant};

use dyno_judge::{Analysis, Rule, TestComparison, analyse, check_trials};
use dyno_stats::ROUNDS_MIN;
use dyno_store::{AttemptRecord, LeftTest, RunChoice, RunId, Store, StoreError};

use super::leaving::is_left;
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
    pub(crate) fn carry_out(mut self, executed: &Executed) -> Result<RunOutcome, RunError> {
        let began = Instant::now();
        let spent_before = executed.spent_ms as f64 / 1000.0;
        let (mut number, mut complete) = (executed.next_round, executed.rounds_complete);
        loop {
            let spent_seconds = spent_before + began.elapsed().as_secs_f64();
            let Some(rounds) = self.rounds_wanted(number, complete, spent_seconds)? else { break };
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

    /// Runs only the round of a task (one round of a run that several hosts share), and records its host.
    ///
    /// # Errors
    /// The same as those of [`Self::carry_out`].
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

    /// Returns the number of rounds that the run will have, by what is known now. Returns `None` if the complete rounds
    /// suffice. `number` is the number of the next round. The run has taken `spent_seconds` so far.
    fn rounds_wanted(
        &mut self,
        number: u32,
        complete: u32,
        spent_seconds: f64,
    ) -> Result<Option<u32>, RunError> {
        // If a needed system did not start, the run still completes its first round, because the failed trials of that
        // round show which systems did not start.
        if complete > 0 && self.options.needs_all_systems && !self.outcome.not_started.is_empty() {
            return Ok(None);
        }
        let (min, max) = (self.plan.rounds_min(), self.plan.rounds.max());
        // If the time limit ends the run before the next look (a planned analysis), the verdicts still have the
        // significance level of that look. This is valid because the results do not decide when the run ends.
        let is_late = |limit: Duration| spent_seconds + self.forecast.round_seconds() > limit.as_secs_f64();
        if complete >= min.max(ROUNDS_MIN as u32) && self.options.time_max.is_some_and(is_late) {
            return Ok(None);
        }
        let wanted = match self.plan.rounds {
            Rounds::Fixed(rounds) => rounds,
            _ if complete < min => min,
            Rounds::UntilDecided(decision) => {
                let left = &self.left_tests;
                let look = next_look(self.plan, complete, decision, left, |rule| self.analyse(rule))?;
                if let Some(analysis) = look.undecided {
                    self.leave(&analysis, (number.saturating_sub(1), complete), spent_seconds)?;
                }
                look.next
            }
            Rounds::Budget { seconds } => {
                let left = seconds - spent_seconds;
                if self.divided.is_none() {
                    self.divide(seconds, complete, left)?;
                }
                // Runs as many rounds as fit, and at least as many as an exact interval needs.
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

/// The result of a look (an analysis after some of the rounds).
pub(crate) struct Look {
    /// The number of rounds at the next look. If all verdicts are decided, the number of rounds that are complete.
    pub(crate) next: u32,
    /// The analysis, if some verdicts are open and another look follows. `None` otherwise, and also if no look was
    /// planned after this round.
    pub(crate) undecided: Option<Analysis>,
}

/// Analyses the complete rounds if a look (an analysis after some of the rounds) is planned after this number of
/// rounds. Does not wait for verdicts on the `left` tests, which are no longer measured.
///
/// Judging after every round would raise the probability of a false alarm. Therefore there are few looks, fixed in
/// advance, which share the error probability (see [`Plan::looks`]).
pub(crate) fn next_look(
    plan: &Plan,
    complete: u32,
    decision: Decision,
    left: &[LeftTest],
    analyse: impl Fn(&Rule) -> Result<Analysis, StoreError>,
) -> Result<Look, RunError> {
    let Decision { rounds_max: max, alpha, margin } = decision;
    let Some(looks) = plan.looks() else { return Ok(Look { next: max, undecided: None }) };
    let rule = Rule { alpha, margin, ..Rule::default() };
    let is_time = looks.at.iter().any(|look| look.rounds == complete as usize);
    let analysis = is_time.then(|| analyse(&rule)).transpose()?;
    let is_waited_for = |test: &TestComparison| !is_left(left, &test.step, test.clients);
    if analysis.as_ref().is_some_and(|analysis| !analysis.open_tests(plan.base_id()).any(is_waited_for)) {
        return Ok(Look { next: complete, undecided: None });
    }
    let next = looks.at.iter().map(|look| look.rounds as u32).find(|rounds| *rounds > complete);
    Ok(Look { next: next.unwrap_or(max), undecided: analysis.filter(|_| next.is_some()) })
}

/// Analyses a run so far.
pub(crate) fn analyse_run(store: &Store, run: RunId, rule: &Rule) -> Result<Analysis, StoreError> {
    let run = store.load_run(RunChoice::Id(run))?;
    Ok(analyse(&run, &check_trials(store, &run)?, rule))
}
