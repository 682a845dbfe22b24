//! The work of sysbench's `cpu` test: an event is a function, made here, which the load calls.
//!
//! The test measures this code itself, so it does what sysbench's compiled code does, instruction for instruction where that
//! matters. Every profile compiles this crate with all optimisations (`Cargo.toml` of the workspace).

mod cpu;

pub use cpu::cpu_event;

/// The work of one event, again and again.
pub type Event = Box<dyn FnMut() + Send>;
