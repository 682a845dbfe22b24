//! The sentences of a proof.

use dyno_judge::{Cause, ProbeEffect, ProofEnding, Relation};

use crate::model::proof::{ChangedSetting, ProofReport, STEP};
use crate::wording::number::{counted, percent, ratio};
use crate::wording::words;

/// If a cause consists of at least this many changes, its sentence states their number.
const MANY: usize = 6;

impl ProofReport {
    /// Sentences on what was proven. The first sentence is the answer.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = match self.proof.ending {
            ProofEnding::Gone => vec![format!("The difference is gone: {}.", self.repeated())],
            ProofEnding::Undecided if self.proof.all_changes.is_some() => vec![self.not_decided()],
            ProofEnding::Undecided => vec![format!(
                "It is not decided whether the difference is still there: {}. More rounds (--rounds) may decide.",
                self.repeated()
            )],
            ProofEnding::Refused => {
                vec![format!(
                    "{} did not start, so the difference could not be measured again.",
                    self.candidate
                )]
            }
            ProofEnding::Unfinished if self.proof.whole.is_some() => vec![format!(
                "The difference is there: {}. The search for its cause has not begun. The same command continues.",
                self.repeated()
            )],
            ProofEnding::Unfinished => {
                vec!["Nothing was compared yet. The same command continues.".to_owned()]
            }
            ProofEnding::NotTheChanges => vec![self.not_the_changes()],
            ProofEnding::Proven | ProofEnding::Partly | ProofEnding::NotNarrowed => {
                self.proof.causes.iter().flat_map(|cause| self.cause(cause)).collect()
            }
        };
        sentences.extend(self.rest());
        sentences.extend(self.what_remains());
        sentences.extend(self.effort());
        sentences
    }

    /// The settings of some changes: `a = 1, b = 2`.
    pub(super) fn names(&self, changes: &[usize]) -> String {
        let settings = changes.iter().flat_map(|change| &self.changes[*change].settings);
        settings.map(ChangedSetting::words).collect::<Vec<_>>().join(", ")
    }

    fn repeated(&self) -> String {
        let whole = self.proof.whole.map_or_else(|| "nothing".to_owned(), in_words);
        format!(
            "repeated, {} has {whole} times the throughput of {}, where run {} had {}",
            self.candidate,
            self.base,
            self.run,
            words::ratio_in(self.ratio, self.interval)
        )
    }

    fn not_the_changes(&self) -> String {
        let all = match self.proof.all_changes {
            Some(effect) => format!(
                "together they make {} of {}; what remains is {}",
                in_words(effect),
                self.whole(),
                self.others_with(effect)
            ),
            None => format!("together they do not start on the engine of {}", self.base),
        };
        let is_setting = |change: &ChangedSetting| change.step().is_none() && !change.is_limit();
        let are_settings = self.changes.iter().flat_map(|change| &change.settings).all(is_setting);
        let what = if are_settings { "No setting" } else { "No setting, limit or step" };
        format!("{what} explains the difference: {all}.")
    }

    fn not_decided(&self) -> String {
        let all = self.proof.all_changes.map_or_else(|| "nothing".to_owned(), in_words);
        format!(
            "It is not decided whether the changes make the difference: together they make {all} of {}. More rounds \
             (--rounds) may decide.",
            self.whole()
        )
    }

    /// Returns the ratio of the whole difference, as the proof measured it. If the proof did not measure it again,
    /// returns the ratio in the run.
    fn whole(&self) -> String {
        self.proof.whole.map_or_else(|| ratio(self.ratio), |whole| ratio(whole.ratio))
    }

    /// States the effect of a cause, how the effects of its parts combine, and whether the cause changes durability.
    fn cause(&self, cause: &Cause) -> Vec<String> {
        let names = self.names(&cause.changes);
        let is_single = cause.changes.len() == 1;
        let makes = cause.together.map_or_else(|| "not measured".to_owned(), in_words);
        let subject = match cause.changes.len() {
            1 => format!("{names} alone"),
            many if many >= MANY => format!("{many} changes together ({names})"),
            _ => format!("{names} together"),
        };
        let mut parts = vec![format!("{subject}: {makes} of {}", self.whole())];
        let members = cause.changes.iter().zip(&cause.alone).filter_map(|(change, alone)| {
            Some(format!("{} alone: {}", self.names(&[*change]), in_words((*alone)?)))
        });
        parts.extend(members);
        let is_last = self.proof.causes.last() == Some(cause);
        parts.extend(cause.without.map(|without| {
            let others = if is_last { "everything else" } else { "all others" };
            format!("{others} together: {}", in_words(without))
        }));
        let mut sentences = vec![format!("{}.", parts.join("; "))];
        sentences.extend((!is_single).then(|| relation(cause.relation)).flatten());
        sentences.extend(relation_to_rest(cause.relation_to_rest));
        for change in &cause.changes {
            let promise = self.changes[*change].promise.as_ref();
            sentences.extend(promise.map(|promise| format!("{} {promise}.", self.names(&[*change]))));
        }
        sentences
    }

    /// A sentence on the part of the difference that the causes do not explain.
    fn rest(&self) -> Option<String> {
        match self.proof.ending {
            ProofEnding::Partly => Some(match self.proof.rest {
                Some(rest) => format!(
                    "The rest, {}, is not explained: probes were undecided, or the budget was used up. The same command \
                     continues with a larger --budget, or with more --rounds.",
                    in_words(rest)
                ),
                None => "The effect of all other changes was not measured. The same command continues with a larger --budget."
                    .to_owned(),
            }),
            ProofEnding::NotNarrowed => Some(
                "The search ended before it could show that all of these are needed. The same command continues the search \
                 with a larger --budget or with more --rounds."
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// States the joint effect of all changes, and the effect of the differences that are not among the changes.
    fn what_remains(&self) -> Option<String> {
        let is_told = [ProofEnding::NotTheChanges, ProofEnding::Undecided].contains(&self.proof.ending);
        let settings = self.proof.all_changes.filter(|_| !is_told)?;
        Some(format!(
            "All changes together: {} of {}; what remains is {}.",
            in_words(settings),
            self.whole(),
            self.others_with(settings)
        ))
    }

    /// Names the differences that are not settings, with their ratio: the ratio of the whole difference divided by
    /// the joint ratio of the settings.
    fn others_with(&self, settings: ProbeEffect) -> String {
        let whole = self.proof.whole.map_or(self.ratio, |whole| whole.ratio);
        format!("{}: {}", self.others.join(" and "), ratio(whole / settings.ratio))
    }

    fn effort(&self) -> Option<String> {
        let seconds: f64 = self.probes.iter().map(|probe| probe.seconds).sum();
        let what = if self.proof.ending == ProofEnding::Proven { "Proven by" } else { "That took" };
        let probes = counted(self.probes.len() as u64, "probe");
        (!self.probes.is_empty()).then(|| {
            format!(
                "{what} {probes} in {}; the probability that any of them errs is {}.",
                words::time(seconds),
                percent(self.alpha)
            )
        })
    }
}

impl ChangedSetting {
    /// The change in words: `sort_buffer_size = 4M`, `the default sort_buffer_size`, `no confinement.memory`, `the
    /// step age`.
    pub fn words(&self) -> String {
        match (&self.candidate, self.step()) {
            (Some(_), Some(step)) => format!("the step {step}"),
            (None, Some(step)) => format!("without the step {step}"),
            (Some(value), None) => format!("{} = {value}", self.name),
            (None, None) if self.is_limit() => format!("no {}", self.name),
            (None, None) => format!("the default {}", self.name),
        }
    }

    /// The id of a step that only one of the two systems has run; `None` for any other change.
    fn step(&self) -> Option<&str> {
        self.name.strip_prefix(STEP)
    }

    fn is_limit(&self) -> bool {
        self.name.starts_with("confinement.")
    }
}

fn in_words(effect: ProbeEffect) -> String {
    words::ratio_in(effect.ratio, effect.interval)
}

fn relation(relation: Option<Relation>) -> Option<String> {
    let words = match relation? {
        Relation::AddUp => "Their effects add up.",
        Relation::MoreTogether => {
            "They interact: together they have a larger effect than the product of their separate effects."
        }
        Relation::LessTogether => {
            "They interact: together they have a smaller effect than the product of their separate effects."
        }
        Relation::Unclear => "Their separate effects are unknown, so it is unknown whether they interact.",
    };
    Some(words.to_owned())
}

fn relation_to_rest(relation: Option<Relation>) -> Option<String> {
    let words = match relation? {
        Relation::MoreTogether => "It interacts with the others: with them its effect is larger.",
        Relation::LessTogether => "It interacts with the others: with them its effect is smaller than alone.",
        Relation::AddUp | Relation::Unclear => return None,
    };
    Some(words.to_owned())
}
