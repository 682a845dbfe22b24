//! The settings that a search for better ones tries, with their values: `settings/tune/`.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use self::entry::{Entry, Possible, entries};
use crate::audit::facts::SystemFacts;
use crate::facts::assignment::Assignment;
use crate::facts::value::normal;
use crate::translation::translate;

/// The resources that a system may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuneRoom {
    /// Memory that the system's server may use, in bytes.
    pub memory_bytes: u64,
    /// Number of clients, for settings that apply to each client.
    pub clients: u32,
}

/// The settings that are tried on a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneSpace {
    /// The settings, the most important first.
    pub settings: Vec<TunedSetting>,
    /// Settings and values that are not tried on this system.
    pub left_out: Vec<NotTuned>,
}

/// A setting with the values that are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedSetting {
    /// The setting's newest name.
    pub name: String,
    /// Why another value may be better, in one line.
    pub why: String,
    /// What is given up for a better value, in words, if anything.
    pub gives_up: Option<String>,
    /// The values that are tried. Amounts are sorted by their distance from the system's own value. Choices are in
    /// the order of the file.
    pub values: Vec<TunedValue>,
}

/// A value of a setting, as the newest version writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedValue {
    pub value: String,
    /// The server's settings that express the value, by the server's own names.
    pub settings: BTreeMap<String, String>,
}

/// A setting or a value that is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTuned {
    pub name: String,
    /// The value that is not tried; `None` if the whole setting is not tried.
    pub value: Option<String>,
    /// The reason, in words that follow the name.
    pub reason: String,
}

/// Amounts count as the same if their logarithms differ by less than this.
const SAME: f64 = 0.05;

/// The settings and values to try on a system whose server has reported its variables. Each of these values differs
/// from the system's own value and keeps all the system's promises. The system's version supports the value, and the
/// system's server knows it.
pub fn tune_space(base: &SystemFacts, room: TuneRoom) -> TuneSpace {
    let mut space = TuneSpace::default();
    for entry in entries(&base.product) {
        match usable(entry, base, room, &mut space.left_out) {
            Ok(values) if values.is_empty() => {}
            Ok(values) => space.settings.push(TunedSetting {
                name: entry.name.clone(),
                why: entry.why.clone(),
                gives_up: entry.gives_up.clone(),
                values,
            }),
            Err(reason) => {
                space.left_out.push(NotTuned { name: entry.name.clone(), value: None, reason });
            }
        }
    }
    space
}

/// The values of a setting that can be tried, or the reason why there are none.
fn usable(
    entry: &Entry,
    base: &SystemFacts,
    room: TuneRoom,
    left_out: &mut Vec<NotTuned>,
) -> Result<Vec<TunedValue>, String> {
    let own = entry.amount_of(base);
    let mut possible = entry.possible(room);
    possible.retain(|it| distance(it, own).is_none_or(|distance| distance > SAME));
    // The second sort is stable, so of two values at the same distance the larger one comes first.
    possible.sort_by(|a, b| b.amount.partial_cmp(&a.amount).unwrap_or(std::cmp::Ordering::Equal));
    possible
        .sort_by(|a, b| distance(a, own).partial_cmp(&distance(b, own)).unwrap_or(std::cmp::Ordering::Equal));
    let mut values = Vec::new();
    let mut refusal = None;
    for Possible { value, .. } in possible {
        let assignment = Assignment { value: value.clone(), ..Assignment::default() };
        let settings = match translate(&base.product, &[(entry.name.clone(), assignment)].into()) {
            Ok(translation) => translation.settings,
            Err(error) => {
                refusal = Some(format!("is left out: {}", error.reason()));
                continue;
            }
        };
        if let Some(unknown) = settings.keys().find(|name| !base.variables.contains_key(*name)) {
            return Err(format!("is left out: the server does not report {unknown}"));
        }
        let is_so = |(name, value): (&String, &String)| normal(&base.variables[name]) == normal(value);
        if settings.iter().all(is_so) {
            continue;
        }
        let changes = settings.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
        match base.promise_lost_with(&changes) {
            Some(lost) => left_out.push(NotTuned {
                name: entry.name.clone(),
                value: Some(value),
                reason: format!("would weaken durability: a system with it {lost}"),
            }),
            None => values.push(TunedValue { value, settings }),
        }
    }
    match refusal {
        Some(reason) if values.is_empty() => Err(reason),
        _ => Ok(values),
    }
}

/// The distance between the logarithms of a value and of the system's own amount. `None` if one of them is not an
/// amount.
fn distance(possible: &Possible, own: Option<f64>) -> Option<f64> {
    Some((possible.amount? / own?).ln().abs())
}
