//! Search for the highest rate at which a system keeps a limit, from probes with noise.
//!
//! The search first finds two rates: a lower one that keeps the limit and an upper one that violates it. After
//! that, each probe uses the rate that is expected to narrow the interval of the capacity most.

mod posterior;
#[cfg(test)]
mod tests;

use self::posterior::Posterior;
use crate::estimate::interval::Interval;

/// Factor by which the rate grows from probe to probe until a rate has violated the limit.
const UP: f64 = 2.0;
/// Divisor by which the rate falls from probe to probe until a rate has kept the limit.
const DOWN: f64 = 4.0;
/// The lowest rate, in events per second.
const RATE_MIN: f64 = 1.0;

/// A search for the capacity of a system: the rate at which half of the probes keep the limit.
#[derive(Clone, Debug)]
pub struct CapacitySearch {
    within: f64,
    first_rate: f64,
    /// The rate of each probe so far, and whether the probe kept the limit.
    probes: Vec<(f64, bool)>,
    /// `None` until a probe has kept the limit and another has violated it.
    posterior: Option<Posterior>,
}

/// A capacity in events per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityEstimate {
    /// The median of the capacity's probability distribution, given the probes.
    pub rate: f64,
    /// The 95% credible interval.
    pub interval: Interval,
    /// Whether the interval is as narrow as requested.
    pub is_narrow: bool,
}

impl CapacitySearch {
    /// A search that begins at `first_rate` (events per second) and ends when the upper end of the interval is less
    /// than `1 + within` times the lower end.
    pub fn new(first_rate: f64, within: f64) -> Self {
        Self { within, first_rate: first_rate.max(RATE_MIN), probes: Vec::new(), posterior: None }
    }

    /// The rate of the next probe; `None` if the search is over. It is over when the interval is narrow, or when
    /// even the lowest rate has violated the limit. In the latter case there is no [estimate](Self::estimate).
    pub fn next_rate(&self) -> Option<f64> {
        if let Some(posterior) = &self.posterior {
            return (!self.is_narrow(posterior.interval())).then(|| posterior.next_rate());
        }
        let Some(&(rate, kept)) = self.probes.last() else { return Some(self.first_rate) };
        match kept {
            true => Some(rate * UP),
            false if rate > RATE_MIN => Some((rate / DOWN).max(RATE_MIN)),
            false => None,
        }
    }

    /// Records whether a probe kept the limit.
    pub fn note(&mut self, rate: f64, kept: bool) {
        self.probes.push((rate, kept));
        match &mut self.posterior {
            Some(posterior) => posterior.note(rate, kept),
            None => self.posterior = self.begin(),
        }
    }

    /// The current estimate of the capacity. `None` until one probe has kept the limit and another has violated it.
    pub fn estimate(&self) -> Option<CapacityEstimate> {
        let posterior = self.posterior.as_ref()?;
        let interval = posterior.interval();
        Some(CapacityEstimate { rate: posterior.median(), interval, is_narrow: self.is_narrow(interval) })
    }

    fn is_narrow(&self, interval: Interval) -> bool {
        interval.high < interval.low * (1.0 + self.within)
    }

    fn begin(&self) -> Option<Posterior> {
        let of = |kept: bool| self.probes.iter().filter(move |probe| probe.1 == kept).map(|probe| probe.0);
        let (low, high) = (of(true).reduce(f64::max)?, of(false).reduce(f64::min)?);
        // The capacity may be far above the rates of the first probes, because a stall may have made these probes
        // violate the limit.
        let mut posterior = Posterior::between(low, high.max(self.first_rate * UP), self.within);
        for &(rate, kept) in &self.probes {
            posterior.note(rate, kept);
        }
        Some(posterior)
    }
}
