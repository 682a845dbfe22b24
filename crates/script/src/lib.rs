//! LuaJIT with the sysbench Lua API, without I/O.
//!
//! A script runs as one coroutine per connection. To wait for something (a query, a sleep) it yields a [`Request`]. It
//! continues when its host resumes it with the [`Reply`].
//!
//! # Why
//!
//! - Nothing here does I/O, so scripts are tested without a socket, fuzzed, and run unchanged by event loops and by
//!   the blocking scheduler.
//! - Memory is limited at the allocator (`lua/memory.rs`). A limit of the process would count rings and stacks of
//!   threads too, and fail somewhere else. Memory is refused only while a script runs, because LuaJIT ends the
//!   process if it lacks memory in a call from outside.

mod bulk;
mod config;
mod entry;
mod error;
mod general;
mod info;
mod lua;
mod machine;
mod native;
mod options;
mod prelude;
mod random;
mod report;
mod request;
mod runtime;
mod task;
mod tpch;
mod values;

pub use config::Config;
pub use entry::{Entry, Progress};
pub use error::{Refused, ScriptError};
pub use general::{
    GeneralOption, OptionDefinition, OptionGroup, ValueKind, general_groups, parse_flag, parse_number,
    parse_numbers,
};
pub use info::{CommandSpec, OptionKind, OptionSpec, RunBy, ScriptInfo};
pub use lua::{InterruptHandle, MemoryLimit};
pub use random::UniqueCounters;
pub use report::Stat;
pub use request::{ConnectionId, Counter, Host, Param, ParamType, Reply, Request, SqlFailure, StatementId};
pub use runtime::Runtime;
pub use task::TaskId;
