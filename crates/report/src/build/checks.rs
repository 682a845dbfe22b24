//! Trials with warnings, and the variation of each system's throughput.

use std::collections::HashMap;

use dyno_judge::{LittleVerdict, TestWarning, TrialCheck, TrialChecks};
use dyno_stats::{Steadiness, median};
use dyno_store::{Run, Trial};

use crate::build::grid::{Grid, Ratios};
use crate::model::{CheckedTrial, Evenness, TrialWarnings, VariationRow};

/// The checked trials, in order of execution.
pub(crate) fn checked_trials(run: &Run, checks: &TrialChecks) -> Vec<CheckedTrial> {
    let checked = |trial: &Trial| {
        let record = &trial.record;
        Some(CheckedTrial {
            step: record.step_id.clone(),
            clients: record.clients,
            system: record.system_id.clone(),
            round: record.round,
            check: checks.get(&trial.id)?.clone(),
        })
    };
    run.trials.iter().filter_map(checked).collect()
}

/// Warnings by test and system, in run order.
pub(crate) fn trial_warnings(
    run: &Run,
    checked: &[CheckedTrial],
    grid: &Grid<'_>,
    ratios: &Ratios<'_>,
) -> Vec<TrialWarnings> {
    let mut found: HashMap<(&str, u32, &str), TrialWarnings> = HashMap::new();
    for trial in checked {
        let place = (trial.step.as_str(), trial.clients, trial.system.as_str());
        found.entry(place).or_default().add(&trial.check);
    }
    let mut trial_warnings = Vec::new();
    for step in &run.steps {
        for &clients in &step.clients {
            for system in &run.systems {
                let warning =
                    found.remove(&(step.id.as_str(), clients, system.id.as_str())).unwrap_or_default();
                let cell = grid.found(&step.id, clients, &system.id);
                let against_base = ratios.get(&system.id, &step.id, clients);
                trial_warnings.push(TrialWarnings {
                    step: step.id.clone(),
                    clients,
                    system: system.id.clone(),
                    warnings: cell.map_or_else(Vec::new, |cell| cell.warnings.clone()),
                    against_base: against_base.map_or_else(Vec::new, |test| test.warnings.clone()),
                    ..warning
                });
            }
        }
    }
    trial_warnings.retain(TrialWarnings::has_any);
    trial_warnings
}

impl TrialWarnings {
    /// Whether the report must show these warnings. Warnings about all tests of a system are shown elsewhere.
    fn has_any(&self) -> bool {
        let has_own = self.against_base.iter().any(TestWarning::is_of_one_test);
        self.affected > 0 || !self.warnings.is_empty() || has_own
    }

    fn add(&mut self, check: &TrialCheck) {
        self.rounds += 1;
        let reasons = self.disturbed + self.little_broken + self.unsteady;
        if let Some(disturbance) = check.disturbance.filter(|disturbance| disturbance.is_disturbed) {
            self.disturbed += 1;
            self.steal_share_max = self.steal_share_max.max(disturbance.steal_share);
            self.others_share_max = self.others_share_max.max(disturbance.others_share);
        }
        if let Some(little) = check.little.filter(|little| little.verdict != LittleVerdict::Agrees) {
            self.little_broken += 1;
            let is_further = |known: f64| (little.busy_share - 1.0).abs() > (known - 1.0).abs();
            if self.busy_share_worst.is_none_or(is_further) {
                self.busy_share_worst = Some(little.busy_share);
            }
        }
        match check.steadiness {
            Some(Steadiness::Warming { change } | Steadiness::Slowing { change }) => {
                self.unsteady += 1;
                if change.abs() > self.change_worst.unwrap_or(0.0).abs() {
                    self.change_worst = Some(change);
                }
            }
            Some(Steadiness::Unsteady) => self.unsteady += 1,
            Some(Steadiness::Flat | Steadiness::Sawtooth { .. }) | None => {}
        }
        self.affected += u64::from(self.disturbed + self.little_broken + self.unsteady > reasons);
    }
}

/// Variation of each system's throughput in each group, in run order; empty if every trial was too short.
pub(crate) fn variation(run: &Run, checked: &[CheckedTrial]) -> Vec<VariationRow> {
    let mut groups: Vec<&str> = Vec::new();
    let mut group_of: HashMap<&str, &str> = HashMap::new();
    for step in &run.steps {
        group_of.insert(&step.id, &step.group);
        if !groups.contains(&step.group.as_str()) {
            groups.push(&step.group);
        }
    }
    let mut trials: HashMap<(&str, &str), Vec<&TrialCheck>> = HashMap::new();
    for trial in checked {
        if let Some(group) = group_of.get(trial.step.as_str()) {
            trials.entry((group, &trial.system)).or_default().push(&trial.check);
        }
    }
    let row = |group: &str| VariationRow {
        group: group.to_owned(),
        systems: run.systems.iter().map(|system| evenness(trials.get(&(group, &*system.id))?)).collect(),
    };
    let rows = groups.into_iter().map(row);
    rows.filter(|row| row.systems.iter().any(Option::is_some)).collect()
}

fn evenness(checks: &[&TrialCheck]) -> Option<Evenness> {
    let variations: Vec<_> = checks.iter().filter_map(|check| check.variation).collect();
    let of =
        |value: fn(&dyno_stats::Variation) -> f64| -> Vec<f64> { variations.iter().map(value).collect() };
    Some(Evenness {
        coefficient: median(&of(|variation| variation.coefficient))?,
        worst: median(&of(|variation| variation.worst))?,
        stalled: variations.iter().map(|variation| variation.stalled).sum(),
        stalled_longest: variations.iter().map(|variation| variation.stalled_longest).max()?,
    })
}

#[cfg(test)]
mod tests {
    use dyno_store::LimitsRecord;

    use super::*;
    use crate::build::footnotes::Footnotes;
    use crate::sample;

    fn warnings_of(run: &Run, checks: &TrialChecks) -> Vec<TrialWarnings> {
        let (analysis, footnotes) = (sample::analysis(run), Footnotes::of(run));
        let grid = Grid::new(run, &analysis, &footnotes);
        trial_warnings(run, &checked_trials(run, checks), &grid, &Ratios::against("mysql56", &analysis))
    }

    #[test]
    fn a_system_whose_threads_alone_were_pinned_is_told() {
        let mut run = sample::run(3);
        for trial in run.trials.iter_mut().map(|trial| &mut trial.record) {
            if (&*trial.step_id, &*trial.system_id, trial.clients) == ("read-only", "maria", 4) {
                let in_force = serde_json::json!({ LimitsRecord::PINNED: "1" });
                trial.limits = Some(LimitsRecord { in_force, ..LimitsRecord::default() });
            }
        }
        let warnings = warnings_of(&run, &sample::checks(&run));
        let told =
            warnings.iter().find(|warning| (&*warning.step, &*warning.system) == ("read-only", "maria"));
        let expected = TestWarning::PinnedAlone { system: "maria".to_owned(), rounds: 3 };
        assert_eq!(told.map(|told| &*told.against_base), Some(&[expected][..]));
    }

    #[test]
    fn a_trial_counts_once_however_much_there_is_to_doubt() {
        let run = sample::run(3);
        let mut checks = sample::checks(&run);
        let trials = |checks: &TrialChecks| {
            let trial_warnings = warnings_of(&run, checks);
            let is_it = |warning: &&TrialWarnings| {
                (&*warning.step, &*warning.system, warning.clients) == ("read-only", "maria", 4)
            };
            trial_warnings.into_iter().find(|warning| is_it(&warning))
        };
        assert_eq!(trials(&checks), None);
        let place = |trial: &&Trial| {
            let record = &trial.record;
            (&*record.step_id, &*record.system_id, record.clients, record.round)
                == ("read-only", "maria", 4, 1)
        };
        let check = checks.get_mut(&run.trials.iter().find(place).unwrap().id).unwrap();
        check.steadiness = Some(Steadiness::Warming { change: 0.2 });
        check.disturbance.as_mut().unwrap().is_disturbed = true;
        check.disturbance.as_mut().unwrap().others_share = 0.3;
        let warning = trials(&checks).unwrap();
        assert_eq!((warning.rounds, warning.affected, warning.disturbed, warning.unsteady), (3, 1, 1, 1));
        assert_eq!((warning.change_worst, warning.others_share_max), (Some(0.2), 0.3));
    }

    #[test]
    fn a_sawtooth_is_steady() {
        let run = sample::run(7);
        let trial_warnings = warnings_of(&run, &sample::checks(&run));
        let unsteady: Vec<_> =
            trial_warnings.iter().map(|warning| (warning.step.as_str(), warning.unsteady)).collect();
        let expected =
            [("point-query", 0), ("update-nonindex", 0), ("update-nonindex", 6), ("read-write", 1)];
        assert_eq!(unsteady, expected, "only those of maria and one of myrocks are not steady");
    }

    #[test]
    fn variation_is_the_median_over_a_group_s_trials_and_stalls_are_added_up() {
        let run = sample::run(3);
        let rows = variation(&run, &checked_trials(&run, &sample::checks(&run)));
        assert_eq!(
            rows.iter().map(|row| &*row.group).collect::<Vec<_>>(),
            ["load", "read-only", "write-heavy"]
        );
        let myrocks = rows[2].systems[2].unwrap();
        assert_eq!((myrocks.coefficient, myrocks.stalled, myrocks.stalled_longest), (0.143, 6, 1));
        let mut short = sample::checks(&run);
        for check in short.values_mut() {
            check.variation = None;
        }
        assert_eq!(variation(&run, &checked_trials(&run, &short)), []);
    }
}
