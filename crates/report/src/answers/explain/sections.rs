//! The tables of an explanation.

use dyno_judge::{AmountChange, Explanation, FunctionChange, SettingDifference, Suspect};

use super::plans;
use crate::document::{Line, Section, Shown, Table};
use crate::wording::number::{self, counted, three_digits};
use crate::wording::phrases;
use crate::wording::words;

/// Largest number of counters that are shown. The JSON format has all of them.
const COUNTERS_MAX: usize = 15;
/// Largest number of settings without evidence that are named. The JSON format has all of them.
const SETTINGS_MAX: usize = 12;

/// The sections of an explanation: costs, counters, plans, functions, settings.
pub(super) fn sections(explanation: &Explanation) -> Vec<Section> {
    let found =
        [counters(explanation), plans::section(explanation), functions(explanation), settings(explanation)];
    std::iter::once(costs(explanation)).chain(found.into_iter().flatten()).collect()
}

fn costs(explanation: &Explanation) -> Section {
    Section {
        title: "Costs of an operation".to_owned(),
        paragraphs: std::iter::once(
            "Median of the rounds. * marks a clear change: the interval lies beyond the margin.".to_owned(),
        )
        .chain(of_rounds_note(&explanation.costs))
        .collect(),
        tables: vec![changes(explanation, explanation.costs.iter())],
        ..Section::default()
    }
}

fn counters(explanation: &Explanation) -> Option<Section> {
    let shown = explanation.counters.len().min(COUNTERS_MAX);
    (explanation.counters_compared > 0).then(|| Section {
        title: "Counters that changed, for each operation".to_owned(),
        paragraphs: std::iter::once(format!(
            "The most telling first: {} of {} with a clear change; {} were compared.",
            shown,
            explanation.counters.len(),
            explanation.counters_compared
        ))
        .chain(of_rounds_note(&explanation.counters[..shown]))
        .collect(),
        tables: (shown > 0)
            .then(|| changes(explanation, explanation.counters.iter().take(COUNTERS_MAX)))
            .into_iter()
            .collect(),
        ..Section::default()
    })
}

fn of_rounds_note(changes: &[AmountChange]) -> Option<String> {
    changes.iter().any(|change| !is_quotient(change)).then(|| phrases::OF_ROUNDS_NOTE.to_owned())
}

fn functions(explanation: &Explanation) -> Option<Section> {
    let line = |change: &FunctionChange| {
        Line::plain(&change.function, [change.base_us, change.candidate_us].map(three_digits))
    };
    let heads = [explanation.base.as_str(), &explanation.candidate];
    (!explanation.functions.is_empty()).then(|| Section {
        title: "Functions whose time for an operation changed most, µs".to_owned(),
        paragraphs: vec![
            "Of threads that work for a client, from stacks of one round; they are not judged.".to_owned(),
        ],
        tables: vec![Table::plain("", &heads, explanation.functions.iter().map(line).collect())],
        ..Section::default()
    })
}

fn settings(explanation: &Explanation) -> Option<Section> {
    let (told, others): (Vec<&Suspect>, Vec<&Suspect>) =
        explanation.settings.iter().partition(|suspect| !suspect.evidence.is_empty());
    let shown = told.into_iter().chain(others.iter().copied().take(SETTINGS_MAX));
    let mut items: Vec<String> = shown.map(suspect_line).collect();
    let left = others.len().saturating_sub(SETTINGS_MAX);
    if left > 0 {
        items.push(format!("{} more", counted(left as u64, "setting")));
    }
    (!items.is_empty()).then(|| Section {
        title: "Settings that differ".to_owned(),
        paragraphs: vec!["Settings that affect what changed come first.".to_owned()],
        items,
        ..Section::default()
    })
}

fn changes<'a>(explanation: &Explanation, changes: impl Iterator<Item = &'a AmountChange>) -> Table {
    let line = |change: &AmountChange| {
        let [base, candidate, multiple] = amounts(change).map(Shown::plain);
        let of_rounds = if is_quotient(change) { "" } else { phrases::OF_ROUNDS };
        let note = format!("{of_rounds}{}", if change.is_clear { " *" } else { "" });
        Line::of(&change.name, vec![base, candidate, Shown { note, ..multiple }])
    };
    let heads = [explanation.base.as_str(), &explanation.candidate, "ratio"];
    Table::plain("", &heads, changes.map(line).collect())
}

/// Whether the ratio equals, within 2%, the quotient of the two amounts.
pub(crate) fn is_quotient(change: &AmountChange) -> bool {
    change.ratio.is_none_or(|ratio| number::is_quotient(change.base, change.candidate, ratio))
}

/// The base's amount, the candidate's amount, and their ratio.
pub(crate) fn amounts(change: &AmountChange) -> [String; 3] {
    [three_digits(change.base), three_digits(change.candidate), multiple(change)]
}

/// A ratio as a multiple. If the ratio is above 1000, the base's amount is almost 0 and the ratio means little, so
/// the text is `from none`.
fn multiple(change: &AmountChange) -> String {
    match change.ratio {
        Some(ratio) if ratio <= 1000.0 => words::ratio_in(ratio, change.interval),
        None if change.base > 0.0 => "to none".to_owned(),
        _ => "from none".to_owned(),
    }
}

/// A suspect with its evidence: `query_cache_type: OFF → ON (whether results are cached); changed: Qcache_inserts,
/// Qcache_hits`
pub(crate) fn suspect_line(suspect: &Suspect) -> String {
    let about = &suspect.setting.about;
    let about = about.as_ref().map(|about| format!(" ({about})")).unwrap_or_default();
    let changed = match suspect.evidence.as_slice() {
        [] => String::new(),
        names => format!("; changed: {}", names.join(", ")),
    };
    format!("{}{about}{changed}", setting_line(&suspect.setting))
}

/// A setting that differs: `query_cache_type: OFF → ON`
pub(crate) fn setting_line(setting: &SettingDifference) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    format!("{}: {} → {}", setting.name, value(&setting.base), value(&setting.candidate))
}
