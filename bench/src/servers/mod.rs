//! What reading and copying a server's state costs.

pub(crate) mod counters;
pub(crate) mod snapshot;
