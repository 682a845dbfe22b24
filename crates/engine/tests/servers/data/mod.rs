//! The data of servers: the data on which they start, the data that is read into caches, and pending writes.

pub(crate) mod draining;
pub(crate) mod given;
pub(crate) mod snapshots;
pub(crate) mod templates;
pub(crate) mod warming;
