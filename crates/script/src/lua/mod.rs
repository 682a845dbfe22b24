//! A typed subset of LuaJIT's C API. All code that uses pointers to Lua states is in this module.

mod function;
mod interrupt;
mod memory;
mod stack;
mod state;

pub(crate) use function::{
    Answer, Call, Native, Raised, Returns, push_caller, push_function, push_marked_function,
};
pub use interrupt::InterruptHandle;
pub(crate) use interrupt::interruptible;
pub use memory::MemoryLimit;
pub(crate) use stack::{Kind, Reference, Stack};
pub(crate) use state::{Resumed, State};
