//! Sections on servers and hosts.

pub(crate) mod crashes;
pub(super) mod drivers;
pub(super) mod hosts;
pub(super) mod query_plans;
pub(super) mod stacks;
