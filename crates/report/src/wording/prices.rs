//! Amounts of dollars, and dollars for operations.

use dyno_judge::dollars_per_million;
use dyno_store::Run;

use crate::model::{Rate, Row};
use crate::wording::number;

/// Whether any system has a price.
pub(crate) fn has_any(run: &Run) -> bool {
    run.systems.iter().any(|system| system.dollars_per_year().is_some())
}

/// The price of a million operations of a test in dollars, for each system at its best client count. `None` for a
/// system that has no price or was not measured.
pub(crate) fn dollars_per_million_operations(run: &Run, row: &Row<Rate>) -> Vec<Option<f64>> {
    let best = |system: &str| {
        let cells = row.cells.iter().filter(|cell| cell.system == system);
        cells.filter_map(|cell| Some(cell.value()?.operations_per_second)).reduce(f64::max)
    };
    let systems = run.systems.iter();
    systems.map(|system| dollars_per_million(system.dollars_per_year()?, best(&system.id)?)).collect()
}

/// An amount in dollars: `$13,281`, `$0.0123`.
pub(crate) fn dollars(amount: f64) -> String {
    if amount.abs() < 100.0 {
        format!("${}", number::three_digits(amount))
    } else {
        format!("${}", number::whole(amount))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn the_best_client_count_of_each_system_with_a_price_counts() {
        let mut run = sample::run(1);
        assert!(!has_any(&run));
        run.systems[1].dollars_per_hour = Some(3.6);
        assert!(has_any(&run));
        let reports = reports(&run);
        let row = &reports.absolute.rows[1];
        let costs = dollars_per_million_operations(&run, row);
        let rates = row.cells.iter().filter(|cell| cell.system == run.systems[1].id);
        let best = rates.map(|cell| cell.value().unwrap().operations_per_second).fold(0.0, f64::max);
        assert_eq!((costs[0], costs[2]), (None, None));
        assert!((costs[1].unwrap() * best - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn prices_are_whole_dollars_and_small_amounts_have_digits() {
        assert_eq!([13_281.4, 99.0, 0.012_34].map(dollars), ["$13,281", "$99.0", "$0.0123"]);
    }
}
