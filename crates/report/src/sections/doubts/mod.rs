//! What is not decided, and what to doubt.

pub(super) mod checks;
pub(super) mod steady_state;
pub(crate) mod undecided;
