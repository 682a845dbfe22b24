//! Checks before a run that the time budget is enough for the plan's sweeps.

use dyno_stats::ROUNDS_MIN;

use super::forecast::Forecast;
use crate::plan::{Plan, Rounds};
use crate::run::error::SweepTooLarge;

/// If the budget is too short for all configurations, the error proposes a fraction of them. This is the denominator of
/// the fraction.
const FRACTIONS: u32 = 20;

impl Plan {
    /// Checks that the time budget is enough, if the plan has sweeps and a time budget.
    ///
    /// # Errors
    /// The estimated time of [`ROUNDS_MIN`] rounds is longer than the budget.
    pub fn check_sweeps(&self) -> Result<(), SweepTooLarge> {
        let Rounds::Budget { seconds: budget_seconds } = self.rounds else { return Ok(()) };
        let swept = self.systems.iter().filter(|system| system.configuration.is_some()).count();
        let seconds = Forecast::new(self, ROUNDS_MIN as u32).seconds_left(0.0);
        if swept == 0 || seconds <= budget_seconds {
            return Ok(());
        }
        // All systems are assumed to take equally long.
        let of_system = seconds / self.systems.len() as f64;
        let unswept = self.systems.len() - swept;
        let fits =
            |fraction: f64| of_system * (unswept as f64 + (fraction * swept as f64).ceil()) <= budget_seconds;
        let fractions = (1..FRACTIONS).rev().map(|part| f64::from(part) / f64::from(FRACTIONS));
        let fraction = fractions.into_iter().find(|fraction| fits(*fraction));
        Err(SweepTooLarge { systems: self.systems.len(), seconds, budget_seconds, fraction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::{TEXT, parse};

    /// Returns the small plan with a budget and a sweep of 20 configurations.
    fn plan(budget_seconds: u32) -> Plan {
        let budget = format!("budget_seconds = {budget_seconds}");
        let levels: Vec<String> = (1..=20).map(|level| level.to_string()).collect();
        let sweep = format!("id = \"a\"\nsweep = {{ innodb_io_capacity = [{}] }}", levels.join(", "));
        parse(&TEXT.replacen("rounds = 4", &budget, 1).replacen("id = \"a\"", &sweep, 1)).unwrap()
    }

    #[test]
    fn a_budget_that_is_too_short_gets_a_fraction_that_fits() {
        let error = plan(600).check_sweeps().unwrap_err();
        assert_eq!((error.systems, error.budget_seconds.to_bits()), (22, 600_f64.to_bits()));
        assert!(error.seconds > 700.0 && error.seconds < 1200.0, "{error:?}");
        let fraction = error.fraction.unwrap();
        assert!(fraction > 0.3 && fraction < 0.9, "{error:?}");
        assert_eq!(plan(60).check_sweeps().unwrap_err().fraction, None);
    }

    #[test]
    fn enough_time_no_sweep_or_no_budget_is_fine() {
        assert_eq!(plan(3600).check_sweeps(), Ok(()));
        assert_eq!(parse(TEXT).unwrap().check_sweeps(), Ok(()));
        let budget = parse(&TEXT.replacen("rounds = 4", "budget_seconds = 1", 1)).unwrap();
        assert_eq!(budget.check_sweeps(), Ok(()));
    }
}
