//! Pure functions that judge measurements: estimates, exact intervals, tests, steadiness, change points,
//! scalability. The comment on each function names its source. `docs/understand/statistics.md` explains the purpose
//! of each in plain words.

mod distribution;
mod estimate;
mod model;
mod series;
mod test;
#[cfg(test)]
mod testing;

pub use estimate::additive::{Observation, additive_effects};
pub use estimate::combined::unbiased_share;
pub use estimate::components::{
    Allocation, AllocationLimits, Components, Costs, NestedComponents, allocate, nested_components,
};
pub use estimate::interval::{CONFIDENCE, Interval, ROUNDS_MIN, rounds_min};
pub use estimate::location::{Location, trimmed_mean};
pub use estimate::mean::geometric_mean;
pub use estimate::median::median;
pub use model::bottleneck::{BottleneckLaw, BottleneckPoint, is_beyond, leave_one_out};
pub use model::capacity::{CapacityEstimate, CapacitySearch};
pub use model::little::busy_share;
pub use series::change_points::{ChangePoint, ChangePoints, ChangeRule, change_points};
pub use series::effective_size::effective_size;
pub use series::fence::{Fence, fence};
pub use series::level::{Level, level};
pub use test::max_t::{SharedTest, max_t};

pub use distribution::proportion::proportion;
pub use distribution::random::SplitMix64;
pub use distribution::student::{student_quantile, student_tail};
pub use estimate::rounds::{
    Centre, Method, RatioEstimate, centre_of_rounds, mean_ratio_of_rounds, ratio_of_rounds,
};
pub use estimate::shift::{ratio_of_runs, rounds_a_side_min};
pub use estimate::slices::{SliceRatio, mean_of_slices, slice_ratio};
pub use estimate::variation::{Variation, variation};
pub use model::operational::{rate_max, utilisation};
pub use model::scalability::{Estimate, LEVELS_MIN, Point, Scalability, scalability};
pub use series::mser::{Truncation, mser5};
pub use series::period::period;
pub use series::steadiness::{Steadiness, steadiness};
pub use series::trend::{Trend, trend};
pub use test::multiple::{benjamini_hochberg, holm};
pub use test::one_way::{OneWay, one_way};
pub use test::sequential::{Look, Looks};
pub use test::verdict::{Better, MARGIN_MIN, Margin, Verdict, more_rounds, rules_out_regression, verdict};
