//! Tests of runs, from a plan to the results file: their rounds, what stops them, and how they are resumed.

mod faults;
mod not_started;
pub(crate) mod resume;
mod rounds;
pub(crate) mod servers;
pub(crate) mod sqlite;
