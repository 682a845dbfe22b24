//! Successive halving: each stage compares fewer candidates in more rounds.

use super::size::{LAST_STAGE, kept};
use super::{MeasuredSet, OrProbe, TuneProbe, Tuning, ValueSet};

/// The result of the stages.
pub(super) struct Halved {
    pub(super) stages: Vec<Vec<MeasuredSet>>,
    /// The best candidate; `None` if no candidate seems better than the base by more than the margin.
    pub(super) best: Option<ValueSet>,
    pub(super) is_cut_short: bool,
}

impl Tuning {
    /// Compares the candidates, drops some, and compares the rest again in more rounds, until only a few are left.
    ///
    /// This is successive halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
    /// ICML 2013; Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
    /// AISTATS 2016). Only the rounds of a stage decide the stage, so a candidate's luck in one stage does not
    /// carry over to the next. In the second stage, the values that were better alone in the first stage are also
    /// tried together.
    pub(super) fn halve(&self, is_wanted: bool) -> OrProbe<Halved> {
        let mut left = self.candidates.clone();
        let mut stages: Vec<Vec<MeasuredSet>> = Vec::new();
        for stage in 0.. {
            let measured = self.measure(&left, stage, is_wanted)?;
            let is_whole = left.iter().all(|candidate| self.was_compared(stage, candidate));
            stages.push(measured);
            if !is_whole {
                // Not all candidates were compared in this stage. For those that were not, the figure of an earlier
                // stage counts.
                let best = self.best_of(&latest(&stages, &left));
                return Ok(Halved { stages, best, is_cut_short: true });
            }
            let this = &stages[stages.len() - 1];
            if left.len() <= LAST_STAGE && stage > 0 || left.len() <= 1 {
                let best = self.best_of(this);
                return Ok(Halved { stages, best, is_cut_short: false });
            }
            let together = (stage == 0).then(|| self.together(this)).flatten();
            left = self.survivors(this);
            left.extend(together.filter(|set| !self.candidates.contains(set)));
            if left.is_empty() {
                break;
            }
        }
        Ok(Halved { stages, best: None, is_cut_short: false })
    }

    fn was_compared(&self, stage: u32, candidate: &ValueSet) -> bool {
        self.known.contains_key(&TuneProbe::Search { stage, candidate: candidate.clone() })
    }

    /// The candidates of a stage with their effects, the best first.
    fn measure(&self, left: &[ValueSet], stage: u32, is_wanted: bool) -> OrProbe<Vec<MeasuredSet>> {
        let mut measured = Vec::new();
        for candidate in left {
            let probe = TuneProbe::Search { stage, candidate: candidate.clone() };
            let effect = self.effect(probe, is_wanted)?;
            measured.push(MeasuredSet { values: candidate.clone(), effect });
        }
        measured.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        Ok(measured)
    }

    /// The better half of a stage's candidates. Two kinds of candidates are left out: those that the server refused,
    /// and those whose interval shows that they are not better than the base by more than the margin.
    fn survivors(&self, stage: &[MeasuredSet]) -> Vec<ValueSet> {
        let may_be_better = |it: &&MeasuredSet| {
            it.effect.is_some_and(|effect| {
                effect.interval.is_none_or(|interval| interval.high > self.margin.high())
            })
        };
        let left = stage.iter().take(kept(stage.len())).filter(may_be_better);
        left.map(|it| it.values.clone()).collect()
    }

    /// Combines the best values of all settings that, changed alone, seem better than the base. `None` if there are
    /// fewer than two such settings.
    fn together(&self, stage: &[MeasuredSet]) -> Option<ValueSet> {
        let mut set = ValueSet::default();
        // The candidates are in descending order of throughput, so the first value of a setting is its best value.
        for measured in stage.iter().filter(|it| it.values.0.len() == 1 && ratio(it) > self.margin.high()) {
            for (setting, value) in &measured.values.0 {
                set.0.entry(*setting).or_insert(*value);
            }
        }
        (set.0.len() > 1).then_some(set)
    }

    /// The best candidate, if it seems better than the base by more than the margin. If other candidates are within
    /// the margin of the best, the one with the fewest settings is taken.
    fn best_of(&self, measured: &[MeasuredSet]) -> Option<ValueSet> {
        let highest = measured.iter().map(ratio).fold(0.0, f64::max);
        let is_as_good =
            |it: &&MeasuredSet| ratio(it) > self.margin.high() && ratio(it) >= highest * self.margin.low();
        let order = |a: &&MeasuredSet, b: &&MeasuredSet| {
            a.values.0.len().cmp(&b.values.0.len()).then(ratio(b).total_cmp(&ratio(a)))
        };
        measured.iter().filter(is_as_good).min_by(order).map(|best| best.values.clone())
    }
}

/// The figure of each candidate in the latest stage that measured it.
fn latest(stages: &[Vec<MeasuredSet>], of: &[ValueSet]) -> Vec<MeasuredSet> {
    let figure = |values: &ValueSet| {
        let all = stages.iter().rev().flatten();
        let mut known = all.filter(|it| it.values == *values && it.effect.is_some());
        known.next().cloned()
    };
    of.iter().filter_map(figure).collect()
}

/// The ratio to the base; 0 if the candidate was not measured.
fn ratio(measured: &MeasuredSet) -> f64 {
    measured.effect.map_or(0.0, |effect| effect.ratio)
}
