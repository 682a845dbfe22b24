//! The results file: a SQLite database with its schema, writes and queries.
//!
//! [`Store::open`] opens or creates the file for a new run. [`Store::open_read_only`] opens it for reports, even while
//! a run writes it. When a method that writes returns, its data is on disk. `docs/reference/results-file.md` describes
//! the tables and views for SQL users.
//!
//! # Why
//!
//! Results are one SQLite file, and a trial is one transaction. Committed trials survive `kill -9`, and people can read
//! the file with tools that they already have.

mod counters;
mod error;
mod file;
mod maintenance;
mod read;
mod record;
mod run;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
mod write;

pub use counters::{decode as decode_series, is_counter};
pub use error::StoreError;
pub use file::identity::{Completeness, RunIdentity};
pub use file::moment::utc_text;
pub use file::open::Store;
pub use file::schema::SchemaDifference;
pub use maintenance::{Fault, FileSize, Merged, MergedRun};
pub use record::attempt::AttemptRecord;
pub use record::capacity::{CapacityRecord, FindRecord, ProbeRecord};
pub use record::columns::{CountsRecord, Memory, Neighbours, Usage};
pub use record::crash::{CrashCause, CrashRecord, CrashVerdict};
pub use record::driver::{DriverLatency, DriverRecord, NetworkRecord};
pub use record::event::{EventKind, EventOutcome, StepEventRecord, Timeline};
pub use record::host::HostRecord;
pub use record::latency::{LatencyCounts, LatencyNs, LatencyRecord, latency_bytes, latency_record};
pub use record::price::{Price, PricedInstance, PricedVolume};
pub use record::queries::{QueryAnswer, QueryPlan};
pub use record::replay::{DigestRecord, LatenessRecord, ReplayRecord};
pub use record::replica::{ReplicaRecord, ReplicationMode};
pub use record::search::{SearchQuestion, SearchRecord, SearchSide, SearchSize, SearchStep, StoredSearch};
pub use record::seconds::{Second, SecondRate};
pub use record::stacks::{StackProfile, StackRecord};
pub use record::statement_plans::StatementPlan;
pub use record::{
    Allocation, CLIENT_COUNTS_MAX, ClaimRecord, Configuration, Correction, CounterRecord, FactorLevel,
    FailureKind, GapsRecord, InstanceRecord, JoinRecord, LadderRecord, LeftTest, LimitsRecord, Measured,
    NAME_BYTES_MAX, Operation, Origin, Outcome, Phase, ResumptionRecord, RunRecord, SampleRecord,
    SliceRecord, StepRecord, SystemRecord, TrialRecord, UnmetLimit,
};
pub use run::{Ending, Run, RunChoice, RunId, RunState, RunSummary, Trial, TrialId};
