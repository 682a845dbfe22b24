//! Sections on costs.

pub(super) mod counters;
pub(crate) mod efficiency;
pub(crate) mod frontier;
