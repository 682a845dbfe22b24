//! What servers and hosts did meanwhile.

pub(crate) mod crashes;
pub(super) mod drivers;
pub(super) mod hosts;
pub(super) mod query_plans;
pub(super) mod stacks;
