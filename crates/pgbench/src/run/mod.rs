//! Runs programs.

pub(crate) mod client;
pub(crate) mod state;
pub(crate) mod step;
#[cfg(test)]
mod tests;
