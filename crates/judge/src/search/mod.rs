//! What searches ask for next, and what they have found, as pure state machines.

pub(crate) mod bisect;
pub(crate) mod capacity;
pub(crate) mod prove;
pub(crate) mod tune;
