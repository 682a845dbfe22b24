//! Searches as pure state machines: what they compare next, and what they have found.

pub(crate) mod bisect;
pub(crate) mod capacity;
pub(crate) mod prove;
pub(crate) mod tune;
