//! How often verdicts and explanations are right, on real servers.

pub(crate) mod capacity;
pub(crate) mod causes;
pub(crate) mod events;
pub(crate) mod freeze;
pub(crate) mod neighbours;
pub(crate) mod truth;
pub(crate) mod upgrade;
pub(crate) mod variance;
