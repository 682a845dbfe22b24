//! Runs over time: changes, and a gate over them.

pub(crate) mod gate;
pub(crate) mod history;
