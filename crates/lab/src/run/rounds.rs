//! Round after round, until there are enough.

use std::time::Instant;

use dyno_judge::{Analysis, Limits, Rule, TrialChecks, analyse, check_trial};
use dyno_stats::Looks;
use dyno_store::{RunChoice, StoreError};
use serde_json::json;

use super::Ended;
use super::error::RunError;
use super::executed::Executed;
use super::observer::Event;
use super::session::Session;
use crate::plan::Rounds;
use crate::schedule::blocks;

impl Session<'_> {
    /// Carries out the rounds that are left.
    ///
    /// # Errors
    /// The results file cannot be written, or a system without which the run has no sense does not start.
    pub(crate) fn carry_out(mut self, executed: Executed) -> Result<Ended, RunError> {
        let began = Instant::now();
        let (mut number, mut complete) = (executed.next_round, executed.rounds_complete);
        while let Some(rounds) = self.rounds_wanted(complete, began)? {
            self.plan_rounds(complete, rounds);
            self.round_began = Instant::now();
            self.observer.observe(&Event::RoundStarted { round: number, of: rounds });
            if self.round(number)?.is_none() {
                self.ended.interrupted = true;
                break;
            }
            self.forecast.round_ended(self.round_began.elapsed().as_secs_f64());
            number += 1;
            complete += 1;
        }
        Ok(self.ended)
    }

    /// How many rounds the run is to have in all, as far as is known; none if those that are complete are enough.
    fn rounds_wanted(&mut self, complete: u32, began: Instant) -> Result<Option<u32>, RunError> {
        let (min, max) = (self.plan.rounds.min(), self.plan.rounds.max());
        let wanted = match self.plan.rounds {
            Rounds::Fixed(rounds) => rounds,
            _ if complete < min => min,
            Rounds::UntilDecided { .. } => self.next_look(complete, max)?,
            Rounds::Budget { seconds } => {
                if self.trial_seconds.is_none() {
                    self.allocate(complete, seconds - began.elapsed().as_secs_f64(), seconds)?;
                }
                let left = seconds - began.elapsed().as_secs_f64();
                complete + (left / self.forecast.round_seconds()).floor().max(0.0) as u32
            }
        };
        Ok((complete < wanted.min(max)).then_some(wanted.min(max)))
    }

    /// The number of rounds at which to judge next; `complete` where every verdict is there.
    ///
    /// Judging after every round would make a false alarm ever more likely, so there are a few looks, agreed in advance,
    /// that share the error that is allowed (see [`Looks`]).
    fn next_look(&self, complete: u32, max: u32) -> Result<u32, RunError> {
        let Some(looks) = Looks::new(max as usize, 1.0 - self.plan.rounds.alpha()) else { return Ok(max) };
        let base = &self.plan.systems[self.plan.base].id;
        if looks.at.contains(&(complete as usize)) && self.analyse()?.is_decided(base) {
            return Ok(complete);
        }
        Ok(looks.at.iter().map(|at| *at as u32).find(|at| *at > complete).unwrap_or(max))
    }

    /// Judges what the run has measured so far.
    fn analyse(&self) -> Result<Analysis, StoreError> {
        let run = self.store.load_run(RunChoice::Id(self.run))?;
        let mut checks = TrialChecks::new();
        for trial in &run.trials {
            let seconds = self.store.second_rates(trial.id)?;
            checks.insert(trial.id, check_trial(&run, trial, &seconds, &Limits::default()));
        }
        let rule = Rule { alpha: self.plan.rounds.alpha(), ..Rule::default() };
        Ok(analyse(&run, &checks, &rule))
    }

    /// Divides what is left of a time budget into rounds and seconds of a trial, by what the first rounds showed.
    fn allocate(&mut self, complete: u32, left_seconds: f64, budget_seconds: f64) -> Result<(), RunError> {
        let found = self.analyse()?.replication;
        let trials = blocks(self.plan)
            .iter()
            .filter(|block| self.plan.steps[block.step].command == crate::plan::Command::Run)
            .count()
            * self.plan.systems.len();
        let measured: f64 = blocks(self.plan)
            .iter()
            .filter(|block| self.plan.steps[block.step].command == crate::plan::Command::Run)
            .map(|block| self.plan.steps[block.step].seconds * self.plan.systems.len() as f64)
            .sum();
        let mean_seconds = if trials == 0 { 1.0 } else { measured / trials as f64 };
        // What a round takes beyond measuring: restarts, loads, connecting, warming up.
        let fixed = (self.forecast.round_seconds() - measured).max(0.1);
        let allocation = allocate(fixed, trials as f64, mean_seconds, left_seconds);
        self.trial_seconds = Some(allocation.seconds_per_trial);
        let written = json!({
            "budget_seconds": budget_seconds,
            "pilot_rounds": complete,
            "rounds": complete + allocation.rounds,
            "seconds_per_trial": allocation.seconds_per_trial,
            "restart_seconds": found.restart_seconds,
            "between_instances": found.between_instances,
            "between_slices": found.between_slices,
        });
        self.store.put_allocation(self.run, &written)?;
        self.observer.observe(&Event::Allocated {
            rounds: complete + allocation.rounds,
            seconds_per_trial: allocation.seconds_per_trial,
        });
        // Rounds now take another time than those that were seen.
        self.forecast.expect(fixed + trials as f64 * allocation.seconds_per_trial);
        Ok(())
    }
}

struct Allocation {
    rounds: u32,
    seconds_per_trial: f64,
}
fn allocate(fixed: f64, trials: f64, mean_seconds: f64, left: f64) -> Allocation {
    Allocation { rounds: (left / (fixed + trials * mean_seconds)) as u32, seconds_per_trial: mean_seconds }
}
