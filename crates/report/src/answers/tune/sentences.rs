//! The sentences of a search for better settings.

use dyno_judge::{ProbeEffect, TuneEnding, ValueSet, Worth, WorthVerdict};

use crate::model::tune::{Recommendation, TuneReport};
use crate::wording::number::{bytes, counted, percent};
use crate::wording::words;

impl TuneReport {
    /// Sentences on what was found. The first sentence is the answer.
    pub(super) fn answer(&self) -> Vec<String> {
        let mut sentences = vec![self.finding()];
        if let Some(recommendation) = &self.recommendation {
            sentences.extend(self.what_does_nothing());
            sentences.push(promise(recommendation));
            sentences.extend(recommendation.gives_up.iter().map(|line| format!("{line}.")));
        }
        sentences.extend(self.cut_short());
        sentences.extend(self.noise());
        sentences.extend(self.effort());
        if self.recommendation.is_some() {
            sentences.push("For a plan:".to_owned());
        }
        sentences
    }

    fn finding(&self) -> String {
        let system = &self.system;
        match self.tuned.ending {
            TuneEnding::Better => {
                let effect = self.recommendation.as_ref().and_then(|it| it.effect);
                format!(
                    "With the settings below, the throughput of {system} is {} times that with its own settings, in \
                     rounds that the search did not use.",
                    effect.map_or_else(|| "unknown".to_owned(), in_words)
                )
            }
            TuneEnding::NothingBetter => match &self.tuned.winner {
                Some(winner) => format!(
                    "No settings better than the base were found. The best candidate, {}, has {} times the throughput in \
                     rounds that the search did not use. To be better, its whole interval must be above {}.",
                    self.in_words(&winner.values),
                    winner.effect.map_or_else(|| "unknown".to_owned(), in_words),
                    crate::wording::number::ratio(self.margin.high())
                ),
                None => "No settings better than the base were found.".to_owned(),
            },
            TuneEnding::BaseFailed => {
                format!("{system} did not complete a comparison with itself, so nothing was tried.")
            }
            TuneEnding::Unfinished => match &self.tuned.winner {
                Some(winner) => format!(
                    "The best candidate so far is {}. It is not confirmed, so this is not a verdict. The same command continues.",
                    self.in_words(&winner.values)
                ),
                None => "Nothing was found yet. The same command continues.".to_owned(),
            },
        }
    }

    /// Settings with their values: `a = 1, b = 2`.
    pub(super) fn in_words(&self, values: &ValueSet) -> String {
        let name = |(setting, value): (&usize, &usize)| {
            let setting = &self.settings[*setting];
            format!("{} = {}", setting.name, setting.values[*value])
        };
        values.0.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Names those settings of the best combination that have no effect and are not recommended.
    fn what_does_nothing(&self) -> Option<String> {
        let recommended = &self.tuned.recommended.as_ref()?.values;
        let is_out = |worth: &&Worth| {
            worth.verdict == WorthVerdict::DoesNothing && !recommended.0.contains_key(&worth.setting)
        };
        let names: Vec<String> =
            self.tuned.worth.iter().filter(is_out).map(|worth| self.value_in_words(worth)).collect();
        (!names.is_empty())
            .then(|| format!("The best candidate also had settings without an effect: {}.", names.join(", ")))
    }

    pub(super) fn value_in_words(&self, worth: &Worth) -> String {
        let setting = &self.settings[worth.setting];
        format!("{} = {}", setting.name, setting.values[worth.value])
    }

    fn cut_short(&self) -> Option<String> {
        let is_over = self.tuned.is_cut_short && self.tuned.ending != TuneEnding::Unfinished;
        is_over.then(|| {
            "The time ended before every candidate was compared as often as planned. A larger --budget may find more."
                .to_owned()
        })
    }

    /// A warning, if the comparison of the base with itself shows a difference beyond the margin.
    fn noise(&self) -> Option<String> {
        let control = self.tuned.control?;
        let interval = control.interval?;
        let is_off = interval.low > self.margin.high() || interval.high < self.margin.low();
        is_off.then(|| {
            format!(
                "The base differs from itself: {} times its own throughput. Something else affects this host. Find it before \
                 you use these settings.",
                in_words(control)
            )
        })
    }

    fn effort(&self) -> Option<String> {
        let seconds: f64 = self.comparisons.iter().map(|it| it.seconds).sum();
        let error = match self.tuned.ending {
            TuneEnding::Better => format!(
                " The probability that the settings are not better by more than {} is at most {}.",
                percent(self.margin.relative()),
                percent(self.alpha)
            ),
            _ => String::new(),
        };
        (!self.comparisons.is_empty()).then(|| {
            format!(
                "{} of {}, {} in {}; a server could use {} of memory.{error}",
                counted(self.candidates as u64, "candidate"),
                counted(self.settings.len() as u64, "setting"),
                counted(self.comparisons.len() as u64, "comparison"),
                words::time(seconds),
                bytes(self.memory_bytes)
            )
        })
    }
}

fn promise(recommendation: &Recommendation) -> String {
    let Recommendation { promise, promise_of_base, .. } = recommendation;
    if promise == promise_of_base {
        format!("Durability after a power cut is the same: {promise}.")
    } else {
        format!("Durability after a power cut changes: {promise}. With the base: {promise_of_base}.")
    }
}

pub(super) fn in_words(effect: ProbeEffect) -> String {
    words::ratio_in(effect.ratio, effect.interval)
}
