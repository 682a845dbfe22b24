//! This process on its machine: its cores, open files, memory and parent process.

pub(crate) mod busy_cores;
pub(crate) mod open_files;
pub(crate) mod parent_watch;
pub(crate) mod sched_batch;
pub(crate) mod script_memory;
pub(crate) mod usage;
