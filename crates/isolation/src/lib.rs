//! Tests which isolation a server's transactions really have.
//!
//! Clients run transactions that read lists and append numbers to them. They record what they requested and what
//! they saw. Each appended number is unique in its list. Therefore a list that was read shows which transactions
//! the reader saw, and in which order they wrote. This gives dependencies between transactions: which of two must
//! precede the other. A cycle of dependencies is an anomaly, and each isolation level excludes some kinds of
//! anomalies.
//!
//! # Why
//!
//! - The method is that of Elle (Kingsbury and Alvaro, *Elle: Inferring Isolation Anomalies from Experimental
//!   Observations*, VLDB 2020), with the definitions of Adya (*Weak Consistency*, MIT 1999). The crate `adya` finds
//!   the cycles. The tests in `check.rs` verify the crate on known anomalies. The database clients of the crate are
//!   not used, because Dyno has clients.
//! - Read-only transactions may run on replicas. This shows stale reads and forks.

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
