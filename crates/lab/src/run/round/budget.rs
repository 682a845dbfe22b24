//! Divides a time budget into rounds and seconds, by the costs and variances of the first rounds.

use dyno_judge::Rule;
use dyno_stats::{AllocationLimits, Components, Costs, ROUNDS_MIN, allocate, median};
use dyno_store::Allocation;

use super::session::{Divided, RunSession};
use crate::plan::Step;
use crate::run::error::RunError;
use crate::run::observer::Event;
use crate::schedule::{Block, blocks};

/// Assumed length of slices until the length is known, in seconds.
const SLICE_SECONDS: f64 = 0.1;
/// Range of the measured time of a trial that a budget may choose, in seconds.
const SECONDS_MIN: f64 = 0.4;
const SECONDS_MAX: f64 = 300.0;

impl RunSession<'_> {
    /// Divides what is left of a budget after the first rounds.
    ///
    /// # Errors
    /// The results file cannot be read or written.
    pub(crate) fn divide(
        &mut self,
        budget_seconds: f64,
        complete: u32,
        left_seconds: f64,
    ) -> Result<(), RunError> {
        let found = self.analyse(&Rule::default())?.replication;
        // Trials whose measured seconds the budget may choose.
        let seconds: Vec<f64> = blocks(self.plan)
            .iter()
            .flat_map(|block| self.plan.systems_of(block.step).map(|_| &self.plan.steps[block.step]))
            .filter(|step| !step.is_load() && !step.has_time_axis() && step.search().is_none())
            .map(|step: &Step| step.seconds)
            .collect();
        let trials = seconds.len();
        // Time of a round besides measuring: restarts, loads, connections, warm-ups. Leads of slices are not part of
        // this time, because they grow with the measured time.
        let stretch = self.stretch();
        let measured = stretch * seconds.iter().sum::<f64>();
        let restart_seconds = (self.forecast.round_seconds() - measured).max(0.0);
        let components = found.between_instances.zip(found.between_slices);
        let slices: Vec<f64> =
            self.slice_lengths.values().flatten().map(|slicing| slicing.slice_seconds).collect();
        let limits = AllocationLimits {
            rounds_min: (ROUNDS_MIN - (complete as usize).min(ROUNDS_MIN - 1)).max(1),
            rounds_max: self.plan.rounds.max() as usize,
            seconds_min: SECONDS_MIN,
            seconds_max: SECONDS_MAX,
        };
        let allocation = components.filter(|_| trials > 0).map(|(between_instances, between_slices)| {
            let components = Components {
                between_instances,
                between_slices,
                slice_seconds: median(&slices).unwrap_or(SLICE_SECONDS),
            };
            // Costs are in measured seconds. Each measured second takes slightly longer than a second, because of
            // leads.
            let costs = Costs { restart_seconds: restart_seconds / stretch, trials };
            allocate(&costs, &components, left_seconds / stretch, &limits)
        });
        // If the variances are unknown, as they are for trials without slices, the plan's seconds are kept.
        let seconds_per_trial = allocation.map_or_else(
            || median(&seconds).unwrap_or(SECONDS_MIN),
            |allocation| allocation.seconds_per_trial,
        );
        let round_seconds = restart_seconds + stretch * trials as f64 * seconds_per_trial;
        let rounds = complete + (left_seconds / round_seconds).max(limits.rounds_min as f64) as u32;
        self.forecast.expect(round_seconds);
        let written = Allocation {
            budget_seconds,
            pilot_rounds: complete,
            rounds,
            seconds_per_trial,
            restart_seconds: found.restart_seconds,
            between_instances: found.between_instances,
            between_slices: found.between_slices,
        };
        self.store.put_allocation(self.run, &written)?;
        self.observer.observe(&Event::Allocated { rounds, seconds_per_trial });
        self.divided =
            Some(Divided { trial_seconds: allocation.map(|allocation| allocation.seconds_per_trial) });
        Ok(())
    }

    /// Returns the time under load per measured second. It is above 1, because leads are not measured. It is a mean
    /// over blocks.
    fn stretch(&self) -> f64 {
        let blocks = blocks(self.plan);
        let timed = blocks.iter().filter(|block| !self.plan.steps[block.step].is_load());
        let stretch = |block: &Block| match self.slice_lengths.get(&block.number) {
            Some(Some(slicing)) => (slicing.lead_seconds + slicing.slice_seconds) / slicing.slice_seconds,
            _ => 1.0,
        };
        let (sum, number) = timed.fold((0.0, 0), |(sum, number), block| (sum + stretch(block), number + 1));
        if number > 0 { sum / f64::from(number) } else { 1.0 }
    }
}
