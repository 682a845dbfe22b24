//! Stacks of all threads of a process and its children, taken with elfutils' `eu-stack`.
//!
//! A sample has addresses only. After all samples, each address is looked up once to find its name.

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
    /// Number of samples. Each sample has the stack of every thread.
    pub samples: u32,
    /// Median time that a sample took, in ms. Threads are stopped one after the other in this time.
    pub sample_ms_median: f64,
    pub stacks: Vec<ThreadStack>,
}

/// A stack, with the number of times that it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadStack {
    /// The thread's name in the kernel (`comm`). Empty if the thread ended before its name was read.
    pub thread: String,
    /// The frames, from the outermost to the innermost.
    pub frames: Vec<Arc<Frame>>,
    pub count: u32,
}

/// A function of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The function's demangled name; `None` if the file has no symbol at this address.
    pub function: Option<String>,
    /// Name of the file that contains the function, such as `libc.so.6`. Empty if the code is in no file.
    pub module: String,
    /// Offset in the file; 0 if the code is in no file.
    pub offset: u64,
}
