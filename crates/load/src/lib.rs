//! Puts load on a database: connections, event loops, arrivals, recording.
//!
//! The load runs in a process of its own, `dyno drive` (so its CPU is accounted apart from the server's): a
//! [`Job`] on standard input, [`Frame`]s on standard output, and the end of input stops it.

mod abandoned;
mod arrivals;
mod busy_cores;
mod changed_names;
mod check;
mod control;
mod course;
mod dial;
mod emulation;
mod failure;
mod frame;
mod gaps;
mod globals;
mod group;
mod io;
mod job;
mod latency;
mod noted;
mod open_files;
mod process;
mod recorder;
mod reporter;
mod run;
mod sched_batch;
mod script_memory;
mod served;
mod session;
mod statement_text;
mod statements;
mod stdio;
mod unfinished;
mod unmeasured;
mod usage;
mod work;
mod worker;
mod workload;

pub use arrivals::{Rate, RatePoint, Spacing};
pub use changed_names::{ChangedNames, Heard};
pub use dyno_client::{PgsqlMethod, Tls, TlsContradiction, TlsMode, TlsNames, Trust, read_public_key};
pub use frame::{
    Connected, Counts, Fairness, Frame, Gaps, Milestone, Order, Slice, SliceOrder, StatementLatency, Tick,
    Total, Usage,
};
pub use group::{LoadGroup, MemberFigures};
pub use job::{
    Address, Compression, IoMethod, Job, Join, Protocol, Scheduler, Script, Share, Target, Tuning,
};
pub use latency::{LATENCY_US_MAX, Latency, LatencyNs};
pub use noted::{Noted, NotedStatement};
pub use process::{FrameSource, LoadProcess, LoadProcessError};
pub use run::{check_syntax, run_job, run_ordered_job};
pub use script_memory::{ScriptMemoryError, script_memory};
pub use stdio::{StdioError, drive_stdio};
pub use unmeasured::UnmeasuredConnections;
pub use work::{Event, Work, run_work};
pub use workload::{builtin_workload, builtin_workloads};
