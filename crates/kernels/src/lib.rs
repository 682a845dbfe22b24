//! The work of sysbench's `cpu` test. An event is a function of this crate that the load calls.
//!
//! The test measures this code itself. Where it matters, the code executes the same instructions as
//! sysbench's compiled code. Every profile compiles this crate with all optimisations (`Cargo.toml` of the
//! workspace).

mod cpu;

pub use cpu::cpu_event;

/// The work of one event. It can be called repeatedly.
pub type Event = Box<dyn FnMut() + Send>;
