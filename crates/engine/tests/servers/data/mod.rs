//! The data of servers: the data on which they start, the data that is read into caches, and pending writes.

mod draining;
mod given;
pub(crate) mod snapshots;
mod templates;
mod warming;
