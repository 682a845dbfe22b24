//! Interprets the stacks of a server: the kind of a thread, and the function of the engine that it is in.

mod fold;
mod function_name;
mod patterns;

pub use fold::{FoldedStack, FoldedStacks, fold_stacks};
