//! Commands that measure until they have an answer: which version, setting or query makes the difference.

mod bisect;
mod explain;
mod explain_plans;
mod tune;
mod upgrades;
mod versus;
