//! The work of sysbench's tests without a database: an event of each is a function, made here, which the load calls.
//!
//! What these tests measure is this code itself, so it does what sysbench's compiled code does, instruction for instruction
//! where that matters. Every profile compiles this crate with all optimisations (`Cargo.toml` of the workspace).

mod barrier;
mod cpu;
mod huge_pages;
mod memory;
mod mutex;
mod random;
mod threads;

pub use cpu::cpu_event;
pub use memory::{Access, Block, Operation, memory_event};
pub use mutex::{Locks, mutex_event};
pub use threads::{YieldLocks, threads_event};

/// The work of one event, again and again.
pub type Event = Box<dyn FnMut() + Send>;
