//! Whether rates had a level after the warm-up.

use dyno_judge::SteadyState;

use crate::model::{Rate, Reports, Row, System};
use crate::number::{self, counted};
use crate::section::{Section, by_clients};
use crate::table::{Shown, Table};

/// A sentence for each step, or one for all if each rate had a level; a table for each step in which one had none. None
/// if it is not known of any rate.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let rows: Vec<&Row<Rate>> = reports.absolute.rows.iter().filter(|row| !states(row).is_empty()).collect();
    let all: Vec<&SteadyState> = rows.iter().flat_map(|row| states(row)).collect();
    let lacks = |row: &&&Row<Rate>| states(row).iter().any(|state| !state.has_level());
    let items = if all.iter().all(|state| state.has_level()) {
        vec![sentence(&all)]
    } else {
        rows.iter().map(|row| format!("{}: {}", row.step, sentence(&states(row)))).collect()
    };
    (!rows.is_empty()).then(|| Section {
        title: "Steady state: whether rates had a level",
        how_to_read: vec![
            "A rate has a level if it neither rises nor falls by a tenth or more while it is measured. A rate without one \
             is not judged. Warm-up: load before the measurement, median of the rounds."
                .to_owned(),
        ],
        items,
        tables: rows.iter().filter(lacks).map(|row| table(reports, row)).collect(),
    })
}

fn states(row: &Row<Rate>) -> Vec<&SteadyState> {
    row.cells.iter().filter_map(|cell| cell.value()?.steady_state.as_ref()).collect()
}

/// `each rate had a level, after 2.0 to 8.5 s of warm-up`.
fn sentence(states: &[&SteadyState]) -> String {
    let without = states.iter().filter(|state| !state.has_level()).count();
    let what = match without {
        0 => "each rate had a level".to_owned(),
        without => format!("{without} of {} had no level", counted(states.len() as u64, "rate")),
    };
    let warmups = || states.iter().filter_map(|state| state.warmup_seconds);
    let span = warmups().reduce(f64::min).zip(warmups().reduce(f64::max));
    let after = span.map(|(least, most)| match (seconds(least), seconds(most)) {
        (least, most) if least == most => format!(", after {most} s of warm-up"),
        (least, most) => format!(", after {least} to {most} s of warm-up"),
    });
    what + &after.unwrap_or_default()
}

fn seconds(value: f64) -> String {
    format!("{value:.1}")
}

fn table(reports: &Reports, row: &Row<Rate>) -> Table {
    let cell = |system: &System, clients: u32| {
        let here = row.cells.iter().find(|cell| cell.clients == clients && cell.system == system.id);
        let state = here.and_then(|cell| cell.value()?.steady_state.as_ref());
        Shown::plain(state.map_or("–".to_owned(), level))
    };
    by_clients(reports, row, cell)
}

/// `after 8.5 s`, or of a rate without a level how far it rose or fell: `none: −12% after 8.5 s`.
pub(crate) fn level(state: &SteadyState) -> String {
    let after = state.warmup_seconds.map(|warmup| format!("after {} s", seconds(warmup)));
    if state.has_level() {
        return after.unwrap_or_else(|| "yes".to_owned());
    }
    let change = number::signed_percent(state.change - 1.0);
    format!("none: {change}{}", after.map(|after| format!(" {after}")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;
    use crate::sample::{self, reports};
    use crate::table::Line;

    #[test]
    fn rates_that_all_have_a_level_are_one_sentence() {
        let mut reports = reports(&sample::laddered_run());
        let found = section(&reports).unwrap();
        assert_eq!(found.items, ["each rate had a level, after 2.0 to 5.0 s of warm-up"]);
        assert!(found.tables.is_empty());
        for cell in reports.absolute.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if let Content::Measured(rate) = &mut cell.content {
                rate.steady_state = None;
            }
        }
        assert!(section(&reports).is_none());
    }

    #[test]
    fn a_step_with_a_rate_without_a_level_has_a_table_that_names_it() {
        let found = section(&reports(&sample::eventful_run())).unwrap();
        assert!(found.items.contains(&"update-nonindex: 1 of 6 rates had no level".to_owned()));
        assert!(found.items.contains(&"read-write: each rate had a level".to_owned()));
        let [table] = found.tables.as_slice() else { panic!("{:?}", found.tables) };
        let Line::Test { name, cells, .. } = &table.lines[1] else { panic!("{:?}", table.lines) };
        assert_eq!((name.as_str(), cells[1].text.as_str()), ("maria", "none: +830%"));
        assert_eq!(cells[0].text, "yes");
    }
}
