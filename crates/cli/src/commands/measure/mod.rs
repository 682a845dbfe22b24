//! Commands that measure.

pub(super) mod bisect;
pub(super) mod crash;
pub(super) mod doctor;
pub(super) mod explain;
pub(super) mod isolation;
pub(super) mod quickstart;
pub(super) mod run;
pub(super) mod tune;
pub(super) mod upgrade;
pub(super) mod versus;
