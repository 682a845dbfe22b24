//! Tests of servers with replicas, and of stacks of threads.

mod replication;
mod stacks;
