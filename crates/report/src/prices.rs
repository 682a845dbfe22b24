//! Money per operation, if the plan has prices.

use dyno_store::Run;

use crate::model::{Rate, Row};

/// Whether any system has a price.
pub(crate) fn has_any(run: &Run) -> bool {
    run.systems.iter().any(|system| system.dollars_per_hour.is_some())
}

/// Dollars per million operations of a test on each system, at the system's best client count; none for a system
/// without a price or a measurement.
pub(crate) fn dollars_per_million_operations(run: &Run, row: &Row<Rate>) -> Vec<Option<f64>> {
    let best = |system: &str| {
        let cells = row.cells.iter().filter(|cell| cell.system == system);
        cells.filter_map(|cell| Some(cell.value()?.operations_per_second)).reduce(f64::max)
    };
    let systems = run.systems.iter();
    systems.map(|system| dollars_per_million(system.dollars_per_hour?, best(&system.id)?)).collect()
}

/// Dollars per million operations at an hourly price; none if the rate is 0.
fn dollars_per_million(dollars_per_hour: f64, operations_per_second: f64) -> Option<f64> {
    (operations_per_second > 0.0).then(|| dollars_per_hour / 3600.0 / operations_per_second * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, reports};

    #[test]
    fn a_million_operations_at_a_thousand_a_second_take_a_thousand_seconds() {
        assert_eq!(dollars_per_million(3.6, 1000.0), Some(1.0));
        assert_eq!(dollars_per_million(3.6, 0.0), None);
    }

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
}
