//! What a test has to say about two systems: the ratio, its interval, and the p-values against the margin.

use dyno_stats::{Bootstrap, Interval, Margin, Ratios, median_interval, p_median_above, p_median_below};
use dyno_store::Trial;

use crate::quantity::Quantity;
use crate::trials::pairs;

/// An estimate of how many times the base the candidate has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) ratio: f64,
    pub(crate) interval: Option<Interval>,
    /// Of "it is not above the margin".
    pub(crate) p_above: f64,
    /// Of "it is not below the margin".
    pub(crate) p_below: f64,
}

impl Estimate {
    /// The chance of so clear a difference in either direction if there is none beyond the margin.
    pub(crate) fn p(&self) -> f64 {
        (2.0 * self.p_above.min(self.p_below)).min(1.0)
    }
}

/// The ratios of trials with the same number; none if no pair has the quantity, or if a base is 0.
pub(crate) fn paired_ratios(base: &[&Trial], candidate: &[&Trial], quantity: Quantity) -> Option<Ratios> {
    let value = |trial: &Trial| quantity.of(&trial.record, None);
    let (base, candidate): (Vec<f64>, Vec<f64>) =
        pairs(base, candidate).filter_map(|(base, own)| value(base).zip(value(own))).unzip();
    let ratios = dyno_stats::pair_ratios(&base, &candidate)?;
    // Ratios that are not positive have no logarithm, on which margins and means rest.
    (!ratios.is_empty() && ratios.iter().all(|ratio| *ratio > 0.0)).then_some(Ratios::Paired(ratios))
}

/// The trials of two runs, which have no partners; none if a system has no value, or one that is not positive.
pub(crate) fn unpaired_ratios(base: &[&Trial], candidate: &[&Trial], quantity: Quantity) -> Option<Ratios> {
    let values = |trials: &[&Trial]| -> Vec<f64> {
        trials.iter().filter_map(|trial| quantity.of(&trial.record, None)).collect()
    };
    let (base, candidate) = (values(base), values(candidate));
    let is_positive = |values: &[f64]| !values.is_empty() && values.iter().all(|value| *value > 0.0);
    (is_positive(&base) && is_positive(&candidate)).then_some(Ratios::Unpaired { base, candidate })
}

/// Whether trials of two runs were measured in turns, so that those of one number are as close in time as if they were
/// of one run: pair after pair, none begins before the one before has.
pub(crate) fn are_interleaved(base: &[&Trial], candidate: &[&Trial]) -> bool {
    let starts: Vec<(i64, i64)> = pairs(base, candidate)
        .map(|(base, own)| (base.record.started_at_ms, own.record.started_at_ms))
        .map(|(base, own)| (base.min(own), base.max(own)))
        .collect();
    starts.len() > 1 && starts.windows(2).all(|two| two[0].1 < two[1].0)
}

/// Estimates a test; none if there is nothing to compare.
pub(crate) fn estimate(ratios: &Ratios, margin: Margin, confidence: f64, seed: u64) -> Option<Estimate> {
    let ratio = ratios.estimate()?;
    Some(match ratios {
        Ratios::Paired(ratios) => Estimate {
            ratio,
            interval: median_interval(ratios, confidence),
            p_above: p_median_above(ratios, margin.high()),
            p_below: p_median_below(ratios, margin.low()),
        },
        Ratios::Unpaired { .. } => match Bootstrap::of_test(ratios, seed) {
            Some(bootstrap) => Estimate {
                ratio,
                interval: Some(bootstrap.interval(confidence)),
                p_above: bootstrap.p_above(margin.high()),
                p_below: bootstrap.p_below(margin.low()),
            },
            None => Estimate { ratio, interval: None, p_above: 1.0, p_below: 1.0 },
        },
    })
}
