//! Plans made from other plans: scaled, with selected steps and systems, or with two systems to compare.

pub(in crate::plan) mod mixture;
mod of_run;
mod one_test;
pub(in crate::plan) mod probe;
pub(in crate::plan) mod scale;
pub(in crate::plan) mod select;
pub(in crate::plan) mod upgrade;
pub(in crate::plan) mod verdicts;
pub(in crate::plan) mod versions;
pub(in crate::plan) mod versus;
