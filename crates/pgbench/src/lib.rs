//! Scripts of pgbench, read and run, without I/O.
//!
//! A [`Program`] is one or more scripts. A [`Client`] runs it: [`Client::advance`] carries out commands until the
//! caller has to do something, such as sending a statement, and returns what the caller has to do. Commands,
//! expressions and functions are those of pgbench's manual for PostgreSQL 18.
//!
//! # Why
//!
//! - Expressions are computed here and not in Lua, because pgbench's integers have 64 bits, and an overflow is an
//!   error.
//! - The random numbers and the order of the seeds are those of PostgreSQL, so that a run with the same seed does
//!   what pgbench does. Tests run both programs and compare the rows that each leaves.

mod error;
mod expression;
mod names;
mod program;
mod run;
mod script;

pub use error::{EvaluationError, Mistake, Problem, RunError};
pub use names::{BUILTIN_VARIABLES, ScriptFile, script_files};
pub use program::Program;
pub use run::client::Client;
pub use run::step::{Gather, Parameter, Protocol, Setup, Step};
