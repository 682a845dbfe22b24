//! Scripts of pgbench, read and run, without I/O.
//!
//! A [`Program`] is one or more scripts. A [`Client`] runs it: [`Client::next`] carries out commands up to the next one that the
//! caller has to do, and says which. Commands, expressions and functions are those of pgbench's manual for PostgreSQL 18.
//!
//! # Why
//!
//! - Expressions are computed here and not in Lua, because they have 64-bit integers whose overflow is an error.
//! - Random numbers are those of PostgreSQL's own generator, with pgbench's order of seeds, so that a run with the same seed does
//!   what pgbench does. Tests compare the rows of both.

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
