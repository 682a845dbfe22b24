//! A running script: its Lua state, its tasks, and its requests to the host.

pub(crate) mod entry;
pub(crate) mod machine;
pub(crate) mod request;
pub(crate) mod runtime;
pub(crate) mod task;
