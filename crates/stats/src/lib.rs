//! Pure functions that judge measurements: estimates, exact intervals, tests, the state of a series, change points,
//! scalability. Each names its source; `docs/statistics.md` says in plain words what each is for.

mod binomial;
mod bootstrap;
mod change_points;
mod effective_size;
mod energy;
mod fence;
mod little;
mod mann_whitney;
mod mean;
mod median;
mod mser;
mod multiple;
mod paired;
mod period;
mod random;
mod scalability;
mod sequential;
mod steadiness;
#[cfg(test)]
mod testing;
mod trend;
mod variation;
mod verdict;

pub use bootstrap::{Bootstrap, RESAMPLES, Ratios};
pub use change_points::{ChangePoint, ChangeRule, change_points};
pub use effective_size::effective_size;
pub use fence::{Fence, fence};
pub use little::busy_share;
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use mean::geometric_mean;
pub use median::median;
pub use mser::{Truncation, mser5};
pub use multiple::{benjamini_hochberg, holm};
pub use paired::{
    CONFIDENCE, Interval, PAIRS_MIN, PairedRatio, median_interval, p_median_above, p_median_below,
    pair_ratios, paired_ratio, pairs_min,
};
pub use period::period;
pub use random::SplitMix64;
pub use scalability::{Estimate, LEVELS_MIN, Point, Scalability, scalability};
pub use sequential::{Looks, Progress};
pub use steadiness::{Steadiness, steadiness};
pub use trend::{Trend, trend};
pub use variation::{Variation, variation};
pub use verdict::{Better, MARGIN_MIN, Margin, Verdict, more_pairs, rules_out_regression, verdict};
