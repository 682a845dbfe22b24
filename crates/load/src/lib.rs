//! Puts load on a database: connections, event loops, arrivals, recording.
//!
//! The load runs in a process of its own, `dyno drive` (so its CPU is accounted apart from the server's): a
//! [`Job`] goes in on standard input, [`Frame`]s come out on standard output, and the end of input stops it.

mod driver;
mod frame;
mod job;
mod latency;

pub use driver::{Driver, DriverError};
pub use frame::{Connected, Counts, Fairness, Frame, Tick, Total, Usage};
pub use job::{Address, DriverKind, IoMethod, Job, Scheduler, Script, Target};
pub use latency::{LATENCY_US_MAX, Latency};
