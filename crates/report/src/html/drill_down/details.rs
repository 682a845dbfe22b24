//! Details for drill-downs, read from the results file before rendering.

use std::collections::{HashMap, HashSet};

use dyno_judge::{OwnSteal, TrialChecks, check_trial};
use dyno_store::{CounterRecord, Run, Second, Store, StoreError, Trial, TrialId};

/// A page includes the seconds of all trials only if the trials' measured times add up to at most this many
/// seconds.
const SECONDS_EMBEDDED_MAX: f64 = 30_000.0;

/// The seconds and counters of the trials that are shown in full, and the checks of all completed trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    pub trials: HashMap<TrialId, TrialDetails>,
    /// Checks of all completed trials.
    pub checks: TrialChecks,
    /// Whether each cell has only its most typical trial, because the page would be too large with all trials.
    pub is_thinned: bool,
}

/// The seconds and counters of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialDetails {
    pub seconds: Vec<Second>,
    pub counters: Vec<CounterRecord>,
}

impl Details {
    /// Reads the details of a run. For a short run, reads the details of every trial. For a long run, reads only the
    /// details of each cell's most typical trial.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn load(store: &Store, run: &Run) -> Result<Self, StoreError> {
        let is_thinned = seconds_in(run) > SECONDS_EMBEDDED_MAX;
        let typical = is_thinned.then(|| typical_trials(run));
        let mut found = Self { is_thinned, ..Self::default() };
        let own_steal = OwnSteal::of(&run.trials);
        for trial in &run.trials {
            // Most of the data are the seconds of trials. So each trial's seconds are read only once, for the details
            // and for the check.
            let rates = if typical.as_ref().is_none_or(|typical| typical.contains(&trial.id)) {
                let (seconds, counters) = (store.seconds(trial.id)?, store.counters(trial.id)?);
                let rates = seconds.iter().map(Second::rate).collect();
                found.trials.insert(trial.id, TrialDetails { seconds, counters });
                rates
            } else {
                store.second_rates(trial.id)?
            };
            if trial.record.is_complete() {
                let limits = own_steal.limits(&trial.record);
                found.checks.insert(trial.id, check_trial(run, trial, &rates, &limits));
            }
        }
        Ok(found)
    }
}

fn seconds_in(run: &Run) -> f64 {
    run.trials.iter().filter_map(|trial| Some(trial.record.measured.as_ref()?.seconds.max(1.0))).sum()
}

/// For each cell, the completed trial with the median rate. If two trials are in the middle, it is the slower one.
fn typical_trials(run: &Run) -> HashSet<TrialId> {
    let mut cells: HashMap<(&str, u32, &str), Vec<&Trial>> = HashMap::new();
    for trial in &run.trials {
        let record = &trial.record;
        if record.is_complete() {
            cells.entry((&record.step_id, record.clients, &record.system_id)).or_default().push(trial);
        }
    }
    let middle = |mut trials: Vec<&'_ Trial>| {
        trials.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        trials.swap_remove((trials.len() - 1) / 2).id
    };
    cells.into_values().map(middle).collect()
}

fn rate(trial: &Trial) -> f64 {
    dyno_judge::throughput(&trial.record).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_typical_trial_is_the_one_in_the_middle() {
        let mut run = sample::run(3);
        for (number, rate) in [500, 100, 300].into_iter().enumerate() {
            let trial = sample::trial_mut(&mut run, "point-query", "maria", 1, number as u32);
            trial.measured.as_mut().unwrap().counts.operations = rate;
        }
        let typical = typical_trials(&run);
        let of_cell: Vec<u32> = run
            .trials
            .iter()
            .filter(|trial| typical.contains(&trial.id))
            .map(|trial| &trial.record)
            .filter(|trial| {
                (&*trial.step_id, trial.clients, &*trial.system_id) == ("point-query", 1, "maria")
            })
            .map(|trial| trial.round)
            .collect();
        assert_eq!(of_cell, [2]);
        assert_eq!(typical.len(), 3 + 5 * 2 * 3, "one of each cell");
    }
}
