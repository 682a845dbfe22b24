//! Prices: which systems are worth their price, and which is the cheapest for a load.

mod frontier;
mod priced;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use frontier::frontiers;
pub use frontier::{Frontier, Offer, Standing};
pub use priced::{PriceDifference, Priced};
pub use target::{Answer, Basis, Candidate, CostAnswer, LatencyFigure, Target, cheapest};

const SECONDS_PER_YEAR: f64 = 365.0 * 86_400.0;

/// Dollars for a million operations, from a price per year; `None` if the rate is 0.
pub fn dollars_per_million(dollars_per_year: f64, operations_per_second: f64) -> Option<f64> {
    (operations_per_second > 0.0).then(|| dollars_per_year / SECONDS_PER_YEAR / operations_per_second * 1e6)
}
