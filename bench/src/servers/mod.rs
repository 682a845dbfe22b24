//! What reading and copying a server's state costs, and what a failover loses.

pub(crate) mod counters;
pub(crate) mod failovers;
pub(crate) mod snapshot;
