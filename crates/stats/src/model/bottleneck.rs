//! Throughput as a function of the capacities that a system may use.

mod fit;
mod left_out;
#[cfg(test)]
mod tests;

use fit::fit;
pub use left_out::{is_beyond, leave_one_out};

/// A measured configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckPoint {
    /// Amount of each resource per second, such as IOPS or CPUs; above 0.
    pub capacities: Vec<f64>,
    /// Operations per second; above 0.
    pub rate: f64,
}

/// Bottleneck bounds that are calibrated by measurements.
///
/// The asymptotic bounds of a closed system are X ≤ Cᵣ / Dᵣ for every resource r (Lazowska et al., "Quantitative
/// System Performance", 1984, chapter 5). A real system does not use all of a resource, so each resource has its
/// own rate per unit of capacity, kᵣ = Uᵣ / Dᵣ, where Uᵣ is the highest utilisation that the system achieves.
/// Everything that all configurations have in common, such as locks or other resources, is one further bound, the
/// rest.
///
/// Near the point where two bounds meet, a closed system stays below both: with N clients and two balanced
/// resources, it reaches the share N / (N + 1) of the bounds (Zahorjan et al., "Balanced job bound analysis of
/// queueing networks", CACM 25(2), 1982). The bounds b are therefore joined as X = (Σ b⁻ᵖ)^(−1/p), with p = ln 2 /
/// ln(1 + 1/N). With one client p is 1, so the times at the resources add up.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckLaw {
    /// For each resource, the logarithm of the operations per unit of its capacity.
    ln_rates: Vec<f64>,
    /// Logarithm of the bound by the rest: by everything that all configurations have in common.
    ln_rest: f64,
    /// The exponent p.
    sharpness: f64,
}

impl BottleneckLaw {
    /// Fits the law to points with the same number of clients, by least squares of the logarithms of rates. `None`
    /// if there are not more points than resources.
    pub fn fit(points: &[BottleneckPoint], clients: u32) -> Option<Self> {
        let resources = points.first()?.capacities.len();
        (points.len() > resources).then(|| fit(points, sharpness(clients)))
    }

    /// Operations per second with these capacities.
    pub fn rate(&self, capacities: &[f64]) -> f64 {
        self.ln_rate(capacities).exp()
    }

    /// Logarithms of the bounds: one for each resource, then the bound by everything that all configurations share.
    fn ln_bounds(&self, capacities: &[f64]) -> Vec<f64> {
        let of_resources =
            self.ln_rates.iter().zip(capacities).map(|(ln_rate, capacity)| ln_rate + capacity.ln());
        of_resources.chain(std::iter::once(self.ln_rest)).collect()
    }

    /// The logarithm of the least bound, and b⁻ᵖ of each bound b. The powers are divided by the power of the least
    /// bound, so that none overflows.
    fn powers(&self, capacities: &[f64]) -> (f64, Vec<f64>) {
        let bounds = self.ln_bounds(capacities);
        let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
        (least, bounds.iter().map(|bound| (-self.sharpness * (bound - least)).exp()).collect())
    }

    fn ln_rate(&self, capacities: &[f64]) -> f64 {
        let (least, powers) = self.powers(capacities);
        least - powers.iter().sum::<f64>().ln() / self.sharpness
    }

    /// How much the logarithm of the rate grows with the logarithm of each bound. The shares add up to 1.
    fn shares(&self, capacities: &[f64]) -> Vec<f64> {
        let (_, powers) = self.powers(capacities);
        let sum: f64 = powers.iter().sum();
        powers.iter().map(|power| power / sum).collect()
    }
}

/// The exponent p for this number of clients N. With this p, two equal bounds reduce the rate to the share N / (N + 1)
/// of one of them.
fn sharpness(clients: u32) -> f64 {
    std::f64::consts::LN_2 / (1.0 / f64::from(clients.max(1))).ln_1p()
}
