//! Stacks of all threads of a process and its children, taken with elfutils' `eu-stack`.
//!
//! A sample has addresses only. They are turned into names afterwards, each address once.

mod address_space;
mod output;
mod sampler;
mod symbols;
mod tool;

use std::sync::Arc;

pub use address_space::is_of_system;
pub use sampler::{StackError, StackSampler};
pub use tool::StackTool;

/// The result of a [`StackSampler`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledStacks {
    /// Number of samples. Each has the stack of every thread.
    pub samples: u32,
    /// Time that a sample took: median, in ms. Threads are stopped one after the other in that time.
    pub sample_ms_median: f64,
    pub stacks: Vec<ThreadStack>,
}

/// A stack, with the number of times that it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadStack {
    /// The thread's name by the kernel (`comm`); empty if it ended too soon.
    pub thread: String,
    /// From the outermost to the innermost.
    pub frames: Vec<Arc<Frame>>,
    pub count: u32,
}

/// A function of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its demangled name; `None` if the file has no symbol there.
    pub function: Option<String>,
    /// Name of its file, such as `libc.so.6`; empty if it is in no file.
    pub module: String,
    /// Offset in that file; 0 if it is in no file.
    pub offset: u64,
}
