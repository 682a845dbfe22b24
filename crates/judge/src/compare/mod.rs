//! Comparison of two systems, in one session or several: replicates, ratios and the rule of verdicts.

pub(crate) mod anchor;
pub(crate) mod comparison;
pub(crate) mod look;
pub(crate) mod noise;
pub(crate) mod pair;
pub(crate) mod rule;
pub(crate) mod sessions;
mod turns;
