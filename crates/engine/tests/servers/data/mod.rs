//! The data of servers: what they begin on, what is read before they work, and what they still have to write.

pub(crate) mod draining;
pub(crate) mod given;
pub(crate) mod snapshots;
pub(crate) mod templates;
pub(crate) mod warming;
