//! The load process: the job and the orders that it receives, the frames that it sends.

pub(crate) mod check;
pub(crate) mod frame;
pub(crate) mod globals;
pub(crate) mod job;
pub(crate) mod pgbench;
pub(crate) mod process;
pub(crate) mod replay;
pub(crate) mod stdio;
pub(crate) mod workload;
