//! The load process's interface. Its input is the job and orders, and its output is frames.

pub(crate) mod check;
pub(crate) mod frame;
pub(crate) mod globals;
pub(crate) mod job;
pub(crate) mod pgbench;
pub(crate) mod process;
pub(crate) mod replay;
pub(crate) mod stdio;
pub(crate) mod workload;
