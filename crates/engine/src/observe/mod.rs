//! What servers tell of themselves: counters and stacks.

pub(crate) mod counters;
pub(crate) mod stack_tool;
pub(crate) mod stacks;
