//! Runs over time: changes of level, and a gate that reports regressions.

pub(crate) mod gate;
pub(crate) mod history;
