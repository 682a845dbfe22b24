//! Processes, folders, shared memory and files that servers use.

pub(crate) mod environment;
pub(crate) mod fnv;
pub(crate) mod folder;
pub(crate) mod hexadecimal;
pub(crate) mod lines;
pub(crate) mod orphan;
pub(crate) mod path_error;
pub(crate) mod platform;
pub(crate) mod process;
pub(crate) mod shared_memory;
pub(crate) mod spawn;
pub(crate) mod sysv;
