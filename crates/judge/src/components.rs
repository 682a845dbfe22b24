//! How much of what rounds differ by is between instances, and how much between slices.

use dyno_stats::{median, variance};

use crate::pair::{PairRound, ln_ratios};

/// Standard deviations of the log ratios of two systems.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Components {
    /// Between instances: what rounds differ by beyond their slices' standard error. None with fewer than two rounds.
    pub(crate) between_instances: Option<f64>,
    /// Between neighbouring slices: median over rounds. None without slices.
    pub(crate) between_slices: Option<f64>,
}

impl Components {
    /// The variance between rounds less the mean of the squared standard errors within them, at least 0: the estimator
    /// of the one-way layout (Searle, Casella and McCulloch, "Variance Components", section 3.5). Whole trials have no
    /// standard error, so there all of it counts as between instances.
    pub(crate) fn of(rounds: &[PairRound]) -> Self {
        let slices = || rounds.iter().filter_map(|round| round.slices);
        let errors = slices().filter_map(|slices| slices.standard_error).map(|error| error * error);
        let within = errors.sum::<f64>() / rounds.len().max(1) as f64;
        let between = variance(&ln_ratios(rounds));
        Self {
            between_instances: between.map(|between| (between - within).max(0.0).sqrt()),
            between_slices: median(&slices().filter_map(|slices| slices.between_slices).collect::<Vec<_>>()),
        }
    }
}
