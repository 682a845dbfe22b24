//! Series of values: change points, dependence, steadiness, trends.

pub(crate) mod change_points;
pub(crate) mod dependence;
pub(crate) mod effective_size;
pub(crate) mod fence;
pub(crate) mod level;
pub(crate) mod mser;
pub(crate) mod period;
pub(crate) mod steadiness;
pub(crate) mod trend;
