//! LuaJIT with the sysbench Lua API, without I/O.
//!
//! A script runs as one coroutine per connection. To wait for something (a query, a sleep), the coroutine yields a
//! [`Request`]. It continues when its host resumes it with the [`Reply`].
//!
//! # Why
//!
//! - Nothing here does I/O, so scripts are tested without a socket, fuzzed, and run unchanged by event loops and by
//!   the blocking scheduler.
//! - Memory is limited at the allocator (`lua/memory.rs`). A limit of the process would also count I/O rings and stacks
//!   of threads, and the error would occur somewhere else. Memory is refused only while a script runs, because LuaJIT
//!   ends the process if it lacks memory in a call from outside.

mod data;
mod error;
mod lua;
mod native;
mod prefetch;
mod prelude;
mod probe;
mod report;
mod run;
mod settings;

pub use data::random::UniqueCounters;
pub use error::{Refused, ScriptError};
pub use lua::{InterruptHandle, MemoryLimit};
pub use prefetch::prefetch;
pub use probe::{Probe, Silent, Stage, Stamps, Tally};
pub use report::Stat;
pub use run::entry::{Entry, Progress};
pub use run::request::{
    ConnectionId, Counter, Host, Param, ParamType, Piped, Reply, Request, SqlFailure, StatementId,
};
pub use run::runtime::Runtime;
pub use run::task::TaskId;
pub use settings::config::Config;
pub use settings::general::{
    GeneralOption, OptionDefinition, OptionGroup, ValueKind, general_groups, parse_flag, parse_number,
    parse_numbers,
};
pub use settings::info::{CommandSpec, OptionKind, OptionSpec, RunBy, ScriptInfo};
