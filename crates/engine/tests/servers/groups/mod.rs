//! Servers that belong together: replicas, and stacks of servers.

pub(crate) mod replication;
pub(crate) mod stacks;
