//! How much was done, against what.

pub(super) mod capacity;
pub(crate) mod joins;
pub(super) mod ladders;
pub(super) mod matrices;
pub(super) mod repeated;
pub(super) mod scaling;
pub(super) mod sweeps;
