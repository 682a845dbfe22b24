//! A running script: its Lua state, its tasks, and what they ask of their host.

pub(crate) mod entry;
pub(crate) mod machine;
pub(crate) mod request;
pub(crate) mod runtime;
pub(crate) mod task;
