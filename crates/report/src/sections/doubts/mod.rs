//! Sections on tests without a verdict and on warnings.

pub(super) mod checks;
pub(super) mod steady_state;
pub(crate) mod undecided;
