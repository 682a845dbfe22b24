//! Rows and random numbers for scripts.

pub(crate) mod bulk;
pub(crate) mod pgbench;
pub(crate) mod random;
pub(crate) mod tpch;
