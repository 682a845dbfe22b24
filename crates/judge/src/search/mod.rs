//! Searches as pure state machines: the next comparison, and the result.

pub(crate) mod bisect;
pub(crate) mod capacity;
pub(crate) mod prove;
pub(crate) mod tune;
