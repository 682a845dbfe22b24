//! Runs programs.

pub(crate) mod client;
mod pipeline;
mod shell;
pub(crate) mod state;
pub(crate) mod step;
#[cfg(test)]
mod tests;
