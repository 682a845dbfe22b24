//! Puts load on a database: connections, event loops, arrivals, recording.
//!
//! The load runs in its own process, `dyno drive`, so that its CPU time can be measured apart from the server's. It
//! reads a [`Job`] from standard input and writes [`Frame`]s to standard output. The end of its input stops it.
//!
//! # Why
//!
//! - A script is a coroutine and a connection is a state machine; the event loop joins them. A query yields a request
//!   from the C function, the loop sends the bytes, and resumes the coroutine with the reply. One thread therefore
//!   carries thousands of connections, and a prepared event makes no Lua garbage.
//! - Two ways to move bytes have one contract (`io`). `io_uring` needs one system call per turn of the loop
//!   for all connections; epoll works everywhere. The contract is based on completions, because epoll can
//!   imitate these cheaply, while the reverse would be slow. A wait of a closed loop has no timeout, which
//!   would cost a timer per query. Instead, a change of the job's state wakes the loops by an `eventfd`.
//! - A command such as `prepare` gets one thread per connection, up to 64, because its script makes rows and would keep
//!   a shared loop busy. Commands also run ahead: the next bulk statement is filled while the server works on the last
//!   one. Events never run ahead, because their latency includes the wait.
//! - There is one event loop for every two cores (`run/layout.rs`), since one loop sends more queries than one server
//!   core answers. With many connections there is one loop for every 64, up to one per core: the kernel runs a woken
//!   thread beside its waker, so a single loop would leave the other core idle a third of the time.
//! - The loop runs under `SCHED_BATCH`. A server in a session of its own gets no larger share of a core than
//!   the client beside it, so the kernel would otherwise switch to the client at every answer.
//! - While all cores are busy, the loop waits for a quarter of the answers in flight, at most 32 and at most 400 µs
//!   (`busy_cores.rs`). An answer costs a fraction of a wake-up, and the server still has three quarters of the
//!   connections to serve. If cores are idle, or there are fewer than four connections per core, waiting would lower
//!   the rate, so the loop does not wait.
//! - The load is a process of its own, so that its CPU is counted apart from the server's, and so that any command that
//!   carries standard input and output can run it on another host. It ends 10 s after its input ends, whatever its
//!   script does (`parent_watch.rs`). A parent-death signal would not end programs that the script started.
//! - Latency counts from when an event was due. At a given rate, this is the time that users wait. Arrivals
//!   are drawn in operational time (`arrivals.rs`), one mechanism for all spacings, steps and ramps. A second
//!   copy of the stream counts the backlog, so a backlog takes no memory.
//! - No event is forgotten. At the end, the load waits for events in flight. They count in the latencies, not in the
//!   rate. An event that never ended or never began counts with the time that it waited (`unfinished.rs`). Gaps are
//!   stored as they were (`gaps.rs`), and `dyno-judge` decides which are too long for chance, so old results can be
//!   judged again.
//! - A slice's rate is its events divided by the time that connections took for them. A window of fixed
//!   length would cut events at both edges. Here each connection finishes its event, and the slice's time is
//!   the mean of the connections' own times (Wald's identity). An event that began in the lead counts by its
//!   share after the lead.
//! - A probe of a capacity search is a slice at a rate. It needs what slices have: an order, a lead that does not
//!   count, and connections that stay open.
//! - A failed event is rolled back, then run again after a wait that doubles from 0.5 ms to 0.1 s, until the job
//!   ends. sysbench repeats it at once, without end and without a rollback.
//! - The first connection's script notes the distinct statements among its first 5,000 executions, at most 50. After
//!   the trial, another load process asks for their plans, because it knows the address, TLS and session settings of
//!   each engine, and `workloads/sql/explain.lua` prints the plans of two versions in the same form. The server's own
//!   history (`performance_schema`, `pg_stat_statements`) would add a cost to the measurement, and executing events
//!   again would change the data.
//! - A load that reconnects (`reconnects.rs`) runs `thread_init` again on a lost connection, because prepared
//!   statements are lost with it. Waits are drawn from a range that doubles and grows with the number of connections
//!   (`retry.rs`), and a loop opens at most 500 at a time, so that ten thousand of them do not reach a server at once.
//! - A load is divided over its drivers, not copied (`group`). Each load process gets its part of one job, so
//!   a plan measures the same with one host or several. Clocks are not compared. The delay with which each
//!   process begins after the first is stored and checked.

mod group;
mod io;
mod machine;
mod measure;
mod profile;
mod protocol;
mod run;
mod schedule;
mod session;
mod statements;
mod worker;

pub use dyno_client::{
    Metadata, PgsqlMethod, Tls, TlsContradiction, TlsMode, TlsNames, Trust, read_public_key,
};
pub use dyno_traffic::NotSent;
pub use group::{LoadGroup, MemberFigures};
pub use machine::script_memory::{ScriptMemoryError, script_memory};
pub use measure::latency::{LATENCY_US_MAX, Latency, LatencyNs};
pub use profile::{Answers, CannedServer, Profile, StageCycles, profile};
pub use protocol::frame::{
    Connected, Counts, Fairness, Frame, Gaps, Milestone, Order, Slice, SliceOrder, StatementLatency,
    TIMELINE_BIN_SECONDS, Tick, Total, Usage,
};
pub use protocol::job::{
    Address, Compression, IoMethod, Job, Join, LostConnections, Protocol, Scheduler, Script, Share, Target,
    Tuning,
};
pub use protocol::pgbench::{PgbenchError, SHELL_OPTION, lua_string, pgbench_workload};
pub use protocol::process::{FrameSource, LoadProcess, LoadProcessError};
pub use protocol::replay::{PackedLatency, Replay, Replayed, ReplayedDigest};
pub use protocol::stdio::{StdioError, drive_stdio};
pub use protocol::workload::{builtin_workload, builtin_workloads};
pub use run::{check_syntax, run_job, run_ordered_job};
pub use schedule::arrivals::{Rate, RatePoint, Spacing};
pub use schedule::functions::{Event, Work, run_work};
pub use session::beside::UnmeasuredConnections;
pub use statements::changed_names::{ChangedNames, Heard};
pub use statements::distinct::{Noted, NotedStatement};
