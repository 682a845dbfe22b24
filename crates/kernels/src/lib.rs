//! The work of sysbench's `cpu` test. An event is one call of the function that this crate returns.
//!
//! The test measures this code itself. Therefore the code executes the same instructions as sysbench's compiled
//! code where that affects the speed. Every build profile compiles this crate with all optimisations (see the
//! workspace's `Cargo.toml`).

mod cpu;

pub use cpu::cpu_event;

/// The work of one event. It can be called repeatedly.
pub type Event = Box<dyn FnMut() + Send>;
