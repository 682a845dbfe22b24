//! Tests of servers with replicas, and of stacks of threads.

pub(crate) mod replication;
pub(crate) mod stacks;
