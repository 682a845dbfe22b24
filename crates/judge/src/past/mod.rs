//! Runs over time: changes, and a gate for them.

pub(crate) mod gate;
pub(crate) mod history;
