//! Shows whether rates were level after the warm-up.

use dyno_judge::SteadyState;

use crate::document::{Section, Shown, Table};
use crate::model::{Rate, Reports, Row, System};
use crate::sections::cells::by_clients;
use crate::wording::number::{self, counted};

/// A sentence on the rates of each step, or one sentence if all rates have a level, or if this is unknown for all of
/// them. Steps in which a rate has no level get a table. `None` if nothing is known about rates and warm-ups.
pub(crate) fn section(reports: &Reports) -> Option<Section> {
    let rows: Vec<&Row<Rate>> = reports.absolute.rows.iter().filter(|row| !states(row).is_empty()).collect();
    let all: Vec<&SteadyState> = rows.iter().flat_map(|row| states(row)).collect();
    let lacks = |row: &&&Row<Rate>| states(row).iter().any(|state| state.has_level() == Some(false));
    let are_alike = all.windows(2).all(|two| two[0].has_level() == two[1].has_level());
    let items = if are_alike && all.first().is_some_and(|state| state.has_level() != Some(false)) {
        vec![sentence(&all)]
    } else {
        rows.iter().map(|row| format!("{}: {}", row.step, sentence(&states(row)))).collect()
    };
    (!rows.is_empty()).then(|| Section {
        title: "Steady state: whether rates reached a level".to_owned(),
        paragraphs: vec![
            "A rate has reached a level if it changes by less than a tenth during the measurement. Trials of less than eight seconds \
             or slices are too short to judge this. A rate without a level gets no verdict. Warm-up: load before the \
             measurement, median of the rounds."
                .to_owned(),
        ],
        items,
        tables: rows.iter().filter(lacks).map(|row| table(reports, row)).collect(),
        ..Section::default()
    })
}

fn states(row: &Row<Rate>) -> Vec<&SteadyState> {
    row.cells.iter().filter_map(|cell| cell.value()?.steady_state.as_ref()).collect()
}

/// How many rates reached a level: `each rate reached a level, after 2.0 to 8.5 s of warm-up`.
fn sentence(states: &[&SteadyState]) -> String {
    let known: Vec<bool> = states.iter().filter_map(|state| state.has_level()).collect();
    let without = known.iter().filter(|has_level| !**has_level).count();
    let what = match (without, states.len() - known.len()) {
        (0, 0) => "each rate reached a level".to_owned(),
        (_, unknown) if known.is_empty() => {
            format!("{}: trials too short to judge", counted(unknown as u64, "rate"))
        }
        (0, unknown) => {
            format!("each rate reached a level, or its trials were too short to judge ({unknown})")
        }
        (without, _) => format!("{without} of {} reached no level", counted(states.len() as u64, "rate")),
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

/// A rate's warm-up: `after 8.5 s`. If the rate has no level, its change comes first: `none: −12% after 8.5 s`, or
/// `none: ×9.30 after 8.5 s` beyond a factor of two. `? after 8.5 s` if it is unknown whether the rate has a level.
pub(crate) fn level(state: &SteadyState) -> String {
    let after = state.warmup_seconds.map(|warmup| format!("after {} s", seconds(warmup)));
    let what = match (state.has_level(), state.change) {
        (Some(true), _) => return after.unwrap_or_else(|| "yes".to_owned()),
        (Some(false), Some(change)) if !(0.5..=2.0).contains(&change) => {
            format!("none: {}", number::times(change))
        }
        (Some(false), Some(change)) => format!("none: {}", number::signed_percent(change - 1.0)),
        _ => "?".to_owned(),
    };
    [Some(what), after].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Line;
    use crate::model::Content;
    use crate::sample::{self, reports};

    #[test]
    fn rates_that_all_have_a_level_are_one_sentence() {
        let mut reports = reports(&sample::laddered_run());
        let found = section(&reports).unwrap();
        assert_eq!(found.items, ["each rate reached a level, after 2.0 to 5.0 s of warm-up"]);
        assert!(found.tables.is_empty());
        for cell in reports.absolute.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if let Content::Measured(rate) = &mut cell.content {
                rate.steady_state = None;
            }
        }
        assert!(section(&reports).is_none());
    }

    #[test]
    fn short_trials_have_their_warm_up_and_tell_no_level() {
        let short = SteadyState { warmup_seconds: Some(6.0), rounds: 0, rounds_without: 0, change: None };
        assert_eq!(level(&short), "? after 6.0 s");
        let known = SteadyState { warmup_seconds: None, rounds: 3, rounds_without: 0, change: Some(1.01) };
        assert_eq!(sentence(&[&short, &short]), "2 rates: trials too short to judge, after 6.0 s of warm-up");
        assert_eq!(
            sentence(&[&short, &known]),
            "each rate reached a level, or its trials were too short to judge (1), after 6.0 s of warm-up"
        );
    }

    #[test]
    fn a_step_with_a_rate_without_a_level_has_a_table_that_names_it() {
        let found = section(&reports(&sample::eventful_run())).unwrap();
        assert!(found.items.contains(&"update-nonindex: 1 of 6 rates reached no level".to_owned()));
        assert!(found.items.contains(&"read-write: each rate reached a level".to_owned()));
        let [table] = found.tables.as_slice() else { panic!("{:?}", found.tables) };
        let Line::Test { name, cells, .. } = &table.lines[1] else { panic!("{:?}", table.lines) };
        assert_eq!((name.as_str(), cells[1].text.as_str()), ("maria", "none: ×9.30"));
        assert_eq!(cells[0].text, "yes");
    }
}
