//! What Dyno does when its input or its machine fails.

pub(crate) mod faults;
pub(crate) mod fuzz;
