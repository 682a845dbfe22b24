//! The results file: one SQLite database, its schema, writes and queries.
//!
//! [`Store::open`] makes or opens the file for a run that is about to measure; [`Store::open_read_only`]
//! lets reports read it, also while that run still writes. Everything is known to be on disk when the
//! method that wrote it returns. `docs/results-file.md` describes the tables and views for SQL users.

mod columns;
mod counters;
mod error;
mod latency;
mod maintenance;
mod open;
mod owner;
mod read;
mod record;
mod run;
#[cfg(test)]
mod sample;
mod schema;
mod seconds;
mod tables;
#[cfg(test)]
mod tests;
mod write;

pub use columns::{Counts, Usage};
pub use counters::decode as decode_series;
pub use error::StoreError;
pub use maintenance::{Fault, FileSize, Merged, MergedRun};
pub use open::Store;
pub use record::{
    ClaimRecord, CounterRecord, Gaps, InstanceRecord, Measured, Operation, Origin, Outcome, Phase,
    ResumptionRecord, RunRecord, SampleRecord, SliceRecord, StepRecord, SystemRecord, TrialRecord,
};
pub use run::{Ending, Run, RunChoice, RunId, RunState, RunSummary, Trial, TrialId};
pub use seconds::{Second, SecondRate};
