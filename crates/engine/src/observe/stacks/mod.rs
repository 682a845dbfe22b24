//! What the stacks of a server say: which kind of thread it is, and in which function of the engine it is.

mod fold;
mod function_name;
mod patterns;

pub use fold::{FoldedStack, FoldedStacks, fold_stacks};
