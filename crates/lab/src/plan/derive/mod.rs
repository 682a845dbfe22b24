//! Plans made from plans: scaled, selected, or two systems of one.

pub(in crate::plan) mod mixture;
pub(in crate::plan) mod probe;
pub(in crate::plan) mod scale;
pub(in crate::plan) mod select;
pub(in crate::plan) mod verdicts;
pub(in crate::plan) mod versions;
pub(in crate::plan) mod versus;
