//! Puts load on a database: connections, event loops, arrivals, recording.
//!
//! The load runs in its own process, `dyno drive`, so that its CPU time can be measured apart from the server's. It
//! reads a [`Job`] from standard input and writes [`Frame`]s to standard output. The end of its input stops it.
//!
//! # Why
//!
//! - A script is a coroutine and a connection is a state machine. The event loop connects them. In a query, the
//!   coroutine yields a request from a C function. The loop sends the bytes, and resumes the coroutine with the reply.
//!   One thread therefore carries thousands of connections, and a prepared event makes no Lua garbage.
//! - Bytes are moved in one of two ways, which have the same interface (`io`). `io_uring` needs one system call per
//!   iteration of the loop for all connections; epoll works everywhere. The interface is based on completions, because
//!   epoll can imitate completions cheaply, while the reverse would be slow. In a closed loop, a wait has no timeout,
//!   because a timeout would cost a timer per query. Instead, a change of the job's state wakes the loops by an
//!   `eventfd`.
//! - A command such as `prepare` gets one thread per connection, up to 64, because its script makes rows and would keep
//!   a shared loop busy. Commands also run ahead: the next bulk statement is filled while the server works on the
//!   previous one. Events never run ahead, because their latency includes the wait.
//! - There is one event loop for every two cores (`run/layout.rs`), since one loop sends more queries than one server
//!   core answers. With many connections, there is one loop for every 64 connections, up to one loop per core. The
//!   kernel runs a woken thread near the thread that woke it, so a single loop would leave other cores idle a third of
//!   the time.
//! - The loop runs under `SCHED_BATCH`. Without it, the kernel would switch from the server to the client at every
//!   answer, because a server that runs in a session of its own (`setsid(2)`) gets no larger share of a core than the
//!   client beside it.
//! - While all cores are busy, the loop waits for a quarter of the answers in flight, at most 32 and at most 400 µs
//!   (`busy_cores.rs`). One wake-up then serves many answers, and the server still has three quarters of the
//!   connections to serve. If cores are idle, or there are fewer than four connections per core, waiting would lower
//!   the rate, so the loop does not wait.
//! - The load is a process of its own, so that its CPU is counted apart from the server's, and so that any command that
//!   carries standard input and output can run it on another host. The process ends 10 s after its input ends, whatever
//!   its script does (`parent_watch.rs`). A parent-death signal would not end programs that the script started.
//! - Latency counts from when an event was due. At a given rate, this is the time that users wait. Arrivals are drawn
//!   on a scale of time with one arrival per unit (`arrivals.rs`), so one mechanism serves all spacings, steps and
//!   ramps. The events that are due but have not begun (the backlog) are counted by a second copy of the stream of
//!   arrivals, so they take no memory.
//! - No event is forgotten. At the end, the load waits for events in flight. They count in the latencies, but not in
//!   the rate. An event that never ended or never began counts with the time that it waited (`unfinished.rs`). Gaps are
//!   stored without a judgement (`gaps.rs`). `dyno-judge` decides which gaps are too long to be chance, so old results
//!   can be judged again.
//! - A slice's rate is its events divided by the time that connections took for them. A window of fixed length would
//!   cut off the events that are in flight when it begins or ends. Here each connection finishes its event, and the
//!   slice's time is the mean of the connections' own times (Wald's identity). A slice begins with a lead, a time that
//!   does not count. An event that began in the lead counts by the share of its time after the lead.
//! - A capacity search tries one rate after another, each in a slice at that rate. It needs the features of slices: an
//!   order to begin, a lead, and connections that stay open.
//! - A failed event is rolled back, then run again after a wait that doubles from 0.5 ms to 0.1 s, until the job ends.
//!   sysbench repeats a failed event at once, without a limit and without a rollback.
//! - The first connection's script records the distinct statements among its first 5,000 executions, at most 50. After
//!   the trial, another load process asks for the plans of these statements. A load process does this, because it knows
//!   the address, TLS and session settings of each engine, and because `workloads/sql/explain.lua` prints the plans of
//!   two versions in the same form. The server's own history (`performance_schema`, `pg_stat_statements`) would add a
//!   cost to the measurement, and executing events again would change the data.
//! - A load that reconnects (`reconnects.rs`) runs `thread_init` again after it has lost a connection, because prepared
//!   statements are lost with the connection. Waits are drawn from a range that doubles and grows with the number of
//!   connections (`retry.rs`), and a loop opens at most 500 connections at a time, so that ten thousand connections do
//!   not reach a server at once.
//! - A load is divided among its drivers, not copied (`group`). Each load process gets its part of one job, so a plan
//!   measures the same with one host or several. Clocks of hosts are not compared. Dyno stores and checks how much
//!   later than the first process each process begins.

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
