//! Finds out which isolation a server's transactions really have, and which they do not.
//!
//! Clients run transactions that read lists and append to them, and record what they asked and saw. Each appended number is
//! unique in its list, so a list that was read shows which transactions the reader saw, and in which order they wrote. From
//! this follows which transaction precedes which. A cycle of such dependencies is an anomaly, and each isolation level
//! excludes some kinds of them.
//!
//! # Why
//!
//! - The method is that of Elle (Kingsbury and Alvaro, *Elle: Inferring Isolation Anomalies from Experimental Observations*,
//!   VLDB 2020), with the definitions of Adya (*Weak Consistency*, MIT 1999). The crate `adya` finds the cycles. It proves
//!   right on the known anomalies of `check.rs`'s tests. Its own clients of databases are left out: Dyno has some.
//! - Read-only transactions may run on replicas, which shows stale reads and forks.

mod check;
mod client;
mod history;
mod level;
mod report;
mod run;

pub use check::Judged;
pub use client::{Lost, OpenTransaction, Operation, Worker};
pub use history::Recorder;
pub use level::{Level, Model};
pub use report::{AnomalyReport, IsolationReport, ReplicaReads, Verdict};
pub use run::{IsolatedSystem, IsolationError, IsolationOptions, isolation_test};
