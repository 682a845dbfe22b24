//! Pure functions that judge measurements: estimates, exact intervals, tests, the state of a series, change points,
//! scalability. Each names its source; `docs/statistics.md` says in plain words what each is for.

mod binomial;
mod change_points;
mod components;
mod effective_size;
mod energy;
mod fence;
mod level;
mod little;
mod location;
mod mean;
mod median;
mod median_interval;
mod mser;
mod multiple;
mod normal;
mod period;
mod random;
mod rounds;
mod scalability;
mod sequential;
mod shift;
mod signed_rank;
mod slices;
mod steadiness;
mod student;
#[cfg(test)]
mod testing;
mod trend;
mod u_distribution;
mod variation;
mod verdict;

pub use change_points::{ChangePoint, ChangeRule, change_points};
pub use components::{Allocation, AllocationLimits, Components, Costs, allocate, between_instances};
pub use effective_size::effective_size;
pub use fence::{Fence, fence};
pub use level::{Level, level};
pub use little::busy_share;
pub use location::{Location, trimmed_mean};
pub use mean::geometric_mean;
pub use median::median;
pub use median_interval::{CONFIDENCE, Interval, ROUNDS_MIN, median_interval, rounds_min};
pub use mser::{Truncation, mser5};
pub use multiple::{benjamini_hochberg, holm};
pub use period::period;
pub use random::SplitMix64;
pub use rounds::{Centre, Method, RatioEstimate, centre_of_rounds, ratio_of_rounds};
pub use scalability::{Estimate, LEVELS_MIN, Point, Scalability, scalability};
pub use sequential::Looks;
pub use shift::{ratio_of_runs, rounds_a_side_min};
pub use slices::{SliceRatio, mean_of_slices, slice_ratio};
pub use steadiness::{Steadiness, steadiness};
pub use student::{student_quantile, student_tail};
pub use trend::{Trend, trend};
pub use variation::{Variation, variation};
pub use verdict::{Better, MARGIN_MIN, Margin, Verdict, more_rounds, rules_out_regression, verdict};
