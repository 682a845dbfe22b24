//! The result of a search: the confirmation of the best candidate, and the effect of each of its settings.

use serde::Serialize;

use super::{MeasuredSet, OrProbe, TuneEnding, TuneProbe, Tuned, Tuning, ValueSet};
use crate::search::prove::ProbeEffect;

/// The effect of one of the winner's settings, with the other settings unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worth {
    pub setting: usize,
    /// The index of the setting's value.
    pub value: usize,
    /// Throughput with the setting as a multiple of the throughput without it. `None` if the server refused to run
    /// without the setting, or if this was not compared.
    pub effect: Option<ProbeEffect>,
    pub verdict: WorthVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorthVerdict {
    /// Without the setting, the throughput is lower by more than the margin.
    Better,
    /// Without the setting, the throughput is not lower by more than the margin, so the setting is removed.
    DoesNothing,
    /// The comparison does not show whether the throughput is lower without the setting, so the setting is kept.
    NotDecided,
    /// This is the only remaining setting, so its effect is the effect that the confirmation measures.
    All,
}

impl Tuning {
    /// Confirms the best candidate of the search, removes the settings that have no effect, and confirms the
    /// remaining settings.
    pub(super) fn answer(&self, best: ValueSet, tuned: Tuned, is_wanted: bool) -> OrProbe<Tuned> {
        let winner = self.confirmed(best, is_wanted)?;
        let mut tuned = Tuned { winner: Some(winner.clone()), ..tuned };
        if !self.was_confirmed(&winner.values) {
            return Ok(Tuned { ending: TuneEnding::Unfinished, ..tuned });
        }
        if !self.is_better(&winner) {
            return Ok(tuned);
        }
        let (left, worth) = self.without_what_does_nothing(&winner.values, is_wanted)?;
        tuned.worth = worth;
        tuned.ending = TuneEnding::Better;
        tuned.recommended = Some(if left == winner.values {
            winner
        } else {
            let fewer = self.confirmed(left, is_wanted)?;
            // The settings that remain are recommended only if their own confirmation shows that they are better.
            if self.is_better(&fewer) { fewer } else { winner }
        });
        Ok(tuned)
    }

    fn confirmed(&self, values: ValueSet, is_wanted: bool) -> OrProbe<MeasuredSet> {
        let effect = self.effect(TuneProbe::Confirm(values.clone()), is_wanted)?;
        Ok(MeasuredSet { values, effect })
    }

    fn was_confirmed(&self, values: &ValueSet) -> bool {
        self.known.contains_key(&TuneProbe::Confirm(values.clone()))
    }

    /// Whether the set is better: whether the whole interval of its effect is above the margin.
    fn is_better(&self, measured: &MeasuredSet) -> bool {
        let interval = measured.effect.and_then(|effect| effect.interval);
        interval.is_some_and(|interval| interval.low > self.margin.high())
    }

    /// Removes the settings one after the other, the least important first. A setting stays removed if the throughput
    /// is not lower without it. If one of two settings is enough for the effect, the other is removed.
    fn without_what_does_nothing(
        &self,
        winner: &ValueSet,
        is_wanted: bool,
    ) -> OrProbe<(ValueSet, Vec<Worth>)> {
        let mut left = winner.clone();
        let mut worth = Vec::new();
        for (setting, value) in winner.0.iter().rev().map(|(setting, value)| (*setting, *value)) {
            if left.0.len() == 1 {
                worth.push(Worth { setting, value, effect: None, verdict: WorthVerdict::All });
                break;
            }
            let probe = TuneProbe::Without { all: left.clone(), setting };
            let effect = self.effect(probe, is_wanted)?.map(ProbeEffect::inverse);
            let verdict = self.verdict(effect);
            if verdict == WorthVerdict::DoesNothing {
                left = left.without(setting);
            }
            worth.push(Worth { setting, value, effect, verdict });
        }
        Ok((left, worth))
    }

    fn verdict(&self, effect: Option<ProbeEffect>) -> WorthVerdict {
        match effect.and_then(|effect| effect.interval) {
            Some(interval) if interval.low > self.margin.high() => WorthVerdict::Better,
            Some(interval) if interval.high <= self.margin.high() => WorthVerdict::DoesNothing,
            _ => WorthVerdict::NotDecided,
        }
    }
}
