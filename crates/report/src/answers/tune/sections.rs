//! The sections on a search for better settings.

use dyno_judge::{TuneProbe, Worth, WorthVerdict};

use super::sentences::in_words;
use crate::document::Section;
use crate::model::tune::{LeftOutOfTuning, TuneComparison, TuneReport};

impl TuneReport {
    /// Sections with the effect of each setting, the comparisons, and the settings that were not tried.
    pub(super) fn sections(&self) -> Vec<Section> {
        [self.worth(), self.made(), self.not_tried()].into_iter().flatten().collect()
    }

    fn worth(&self) -> Option<Section> {
        let recommended = self.tuned.recommended.as_ref()?;
        let line = |worth: &Worth| {
            let found = match (worth.verdict, worth.effect) {
                (WorthVerdict::All, _) => "the whole effect".to_owned(),
                (WorthVerdict::Better, Some(effect)) => in_words(effect),
                (WorthVerdict::DoesNothing, Some(effect)) => {
                    let is_in = recommended.values.0.contains_key(&worth.setting);
                    let out = if is_in { "kept, because the rest was not confirmed" } else { "left out" };
                    format!("{}, no effect; {out}", in_words(effect))
                }
                (_, Some(effect)) => format!("{}, not decided; kept", in_words(effect)),
                (_, None) => "not compared, or the server does not start without it; kept".to_owned(),
            };
            format!("{}: {found} ({})", self.value_in_words(worth), self.settings[worth.setting].why)
        };
        Some(Section {
            title: "What each setting is worth".to_owned(),
            paragraphs: vec![
                "Throughput with the setting as a multiple of that without it, with the other settings below. Each interval \
                 is for one setting; only the figure of all settings together is a verdict."
                    .to_owned(),
            ],
            items: self.tuned.worth.iter().map(line).collect(),
            ..Section::default()
        })
    }

    fn made(&self) -> Option<Section> {
        let line = |made: &TuneComparison| {
            let run = made.run.map_or_else(|| "no run".to_owned(), |run| format!("run {run}"));
            let found = match (made.effect, &made.refused) {
                (Some(effect), _) => in_words(effect),
                (None, Some(message)) => message.clone(),
                (None, None) => "not measured".to_owned(),
            };
            format!("{run}: {}: {found}", self.what(&made.probe))
        };
        (!self.comparisons.is_empty()).then(|| Section {
            title: "Comparisons".to_owned(),
            paragraphs: vec![format!(
                "Throughput as a multiple of {}'s. Comparisons in stages only choose candidates; they are not verdicts.",
                self.system
            )],
            items: self.comparisons.iter().map(line).collect(),
            ..Section::default()
        })
    }

    fn what(&self, probe: &TuneProbe) -> String {
        match probe {
            TuneProbe::Control => format!("{} itself", self.system),
            TuneProbe::Search { stage, candidate } => {
                format!("stage {}, {}", stage + 1, self.in_words(candidate))
            }
            TuneProbe::Confirm(values) => format!("confirmation, {}", self.in_words(values)),
            TuneProbe::Without { all, setting } => format!(
                "{} without {}, as a multiple of that with it",
                self.in_words(all),
                self.in_words(&all.only(*setting))
            ),
        }
    }

    fn not_tried(&self) -> Option<Section> {
        let line = |it: &LeftOutOfTuning| {
            let value = it.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
            format!("{}{value} {}", it.name, it.reason)
        };
        (!self.left_out.is_empty()).then(|| Section {
            title: "Not tried".to_owned(),
            paragraphs: vec![
                "Settings that this version or its server lacks, and settings that would weaken durability."
                    .to_owned(),
            ],
            items: self.left_out.iter().map(line).collect(),
            ..Section::default()
        })
    }
}
