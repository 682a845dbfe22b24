//! The reports.

mod figures;
mod header;
mod histogram;
mod hooks;
mod interval;
mod json;
mod percentile;
mod reporter;
mod statistics;

pub(crate) use header::header;
pub(crate) use hooks::{HookHost, Hooks};
pub(crate) use reporter::{Ended, Reporter};

/// The kind of work that a test's reports describe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReportedWork {
    /// A script that talks to a database.
    Database,
    /// Events without further meaning.
    Events,
    Cpu,
}
