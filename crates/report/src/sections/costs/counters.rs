//! The counters that the plan chooses, in tables with a row for each system and a column for each client count.

use crate::document::{Section, Shown, Table};
use crate::model::{ChosenCounter, CounterValue, Reports, System};
use crate::sections::cells::by_clients;
use crate::wording::number;

/// The section; `None` if the plan chooses no counters.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let missing: Vec<&str> =
        reports.counters.iter().filter(|it| it.name.is_none()).map(|it| it.chosen.as_str()).collect();
    (!reports.counters.is_empty()).then(|| Section {
        title: "Counters that the plan chooses".to_owned(),
        paragraphs: vec![
            "The servers' own counters, by their names and in their units: of a counter its change per operation, of a \
             gauge its value when the measurement ended, and in parentheses the largest in the trial, if it was read \
             each second; median of the rounds. – where a system does not have it."
                .to_owned(),
        ],
        items: if missing.is_empty() {
            Vec::new()
        } else {
            vec![format!("No system has {}.", missing.join(", "))]
        },
        tables: reports.counters.iter().flat_map(|counter| tables(reports, counter)).collect(),
        ..Section::default()
    })
}

/// A table for each step in which a system has the counter.
fn tables(reports: &Reports, counter: &ChosenCounter) -> Vec<Table> {
    let kind = if counter.is_gauge { "at the end" } else { "per operation" };
    let name = counter.name.as_ref().unwrap_or(&counter.chosen);
    let rows = reports.absolute.rows.iter().filter(|row| counter.values.iter().any(|it| it.step == row.step));
    rows.map(|row| {
        let value = |system: &System, clients: u32| {
            let found = counter
                .values
                .iter()
                .find(|it| it.step == row.step && it.clients == clients && it.system == system.id);
            let write = if counter.is_gauge { number::amount } else { number::three_digits };
            let peak =
                |it: &CounterValue| it.peak.map_or_else(String::new, |peak| format!(" ({})", write(peak)));
            let shown = |it: &CounterValue| format!("{}{}", write(it.median), peak(it));
            Shown::plain(found.map_or_else(|| "–".to_owned(), shown))
        };
        Table { title: format!("{name} {kind}, {}", row.step), ..by_clients(reports, row, value) }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_golden;
    use crate::sample::{self, reports};
    use crate::{Format, RenderOptions, render};

    #[test]
    fn a_plan_without_counters_has_no_section() {
        assert!(section(&reports(&sample::run(3))).is_none());
    }

    #[test]
    fn counters_are_per_operation_gauges_at_the_end_and_the_peak_and_what_nobody_has_is_told() {
        let reports = reports(&sample::laddered_run());
        let text = render(&reports, Format::Text, &RenderOptions { color: false, width: 100 });
        let start = text.find("Counters that the plan chooses").unwrap();
        let end = text[start..].find("\n\n\n").map_or(text.len(), |at| start + at);
        assert_golden("counters.txt", &text[start..end]);
    }
}
