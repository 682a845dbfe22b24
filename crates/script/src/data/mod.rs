//! Rows and random numbers that scripts are given.

pub(crate) mod bulk;
pub(crate) mod random;
pub(crate) mod tpch;
