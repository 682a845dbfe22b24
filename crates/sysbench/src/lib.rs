//! The drop-in for the `sysbench` command: its options, scripts and output, with Dyno's load.
//!
//! `docs/reference/load-generator.md` lists what is the same as in sysbench and what differs.
//!
//! # Why
//!
//! The drop-in is a crate of its own, because its options and reports are a contract that is separate from Dyno's.

mod command;
mod failure;
mod help;
mod job;
mod log;
mod native;
mod options;
mod program;
mod report;
mod script;

pub use command::run;
pub use log::Console;
pub use program::{is_called, main};
