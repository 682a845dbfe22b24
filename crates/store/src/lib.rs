//! The results file: a SQLite database with its schema, writes and queries.
//!
//! [`Store::open`] opens or creates the file for a new run. [`Store::open_read_only`] opens it for reports, also while
//! a run writes it. When a method that writes returns, its data are on disk. `docs/reference/results-file.md` describes the
//! tables and views for SQL users.
//!
//! # Why
//!
//! Results are one SQLite file, and a trial is one transaction. What is committed survives `kill -9`, and people read
//! it with tools that they have.

mod attempt;
mod budget;
mod capacity;
mod columns;
mod counters;
mod crash;
mod driver;
mod error;
mod identity;
mod latency;
mod maintenance;
mod moment;
mod open;
mod owner;
mod price;
mod queries;
mod read;
mod record;
mod run;
#[cfg(test)]
mod sample;
mod schema;
mod search;
mod seconds;
mod stacks;
mod statement_plans;
mod tables;
#[cfg(test)]
mod tests;
mod write;

pub use attempt::AttemptRecord;
pub use capacity::{CapacityRecord, FindRecord, ProbeRecord};
pub use columns::{Counts, Memory, Neighbours, Usage};
pub use counters::{decode as decode_series, is_counter};
pub use crash::CrashRecord;
pub use driver::{DriverLatency, DriverRecord, NetworkRecord};
pub use error::StoreError;
pub use identity::{Completeness, RunIdentity};
pub use latency::{LatencyCounts, LatencyNs, LatencyRecord, latency_bytes, latency_record};
pub use maintenance::{Fault, FileSize, Merged, MergedRun};
pub use moment::utc_text;
pub use open::Store;
pub use price::{Price, PricedInstance, PricedVolume};
pub use queries::{QueryAnswer, QueryPlan};
pub use record::{
    Allocation, ClaimRecord, Configuration, Correction, CounterRecord, FactorLevel, FailureKind, Gaps, InstanceRecord, Join,
    LadderRecord, LimitDifference, LimitsRecord, Measured, Operation, Origin, Outcome, Phase,
    ResumptionRecord, RunRecord, SampleRecord, SliceRecord, StepRecord, SystemRecord, TrialRecord,
};
pub use run::{Ending, Run, RunChoice, RunId, RunState, RunSummary, Trial, TrialId};
pub use schema::SchemaDifference;
pub use search::{SearchQuestion, SearchRecord, SearchSide, SearchSize, SearchStep, StoredSearch};
pub use seconds::{Second, SecondRate};
pub use stacks::{StackProfile, StackRecord};
pub use statement_plans::StatementPlan;
