//! Data about servers: counters and stacks.

pub(crate) mod counters;
pub(crate) mod stack_tool;
pub(crate) mod stacks;
