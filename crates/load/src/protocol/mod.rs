//! The load process and what it is told and tells: a job, frames, orders.

pub(crate) mod check;
pub(crate) mod frame;
pub(crate) mod globals;
pub(crate) mod job;
pub(crate) mod process;
pub(crate) mod stdio;
pub(crate) mod workload;
