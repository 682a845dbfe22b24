//! The results file, a SQLite database: its schema, writes and queries.
//!
//! [`Store::open`] opens or creates the file for a new run. [`Store::open_read_only`] opens it for reports, even
//! while a run writes it. When a method that writes returns, its data is on disk. `docs/reference/results-file.md`
//! describes the tables and views for SQL users.
//!
//! # Why
//!
//! All results are in one SQLite file, and each trial is written in one transaction. Committed trials survive `kill
//! -9`, and people can read the file with tools that they already have.

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

pub use error::StoreError;
pub use file::identity::{Completeness, RunIdentity};
pub use file::moment::utc_text;
pub use file::open::Store;
pub use file::schema::SchemaDifference;
pub use maintenance::{Fault, FileSize, Merged, MergedRun};
pub use record::run::attempt::AttemptRecord;
pub use record::run::crash::{CrashCause, CrashRecord, CrashVerdict};
pub use record::run::host::HostRecord;
pub use record::run::price::{Price, PricedInstance, PricedVolume};
pub use record::run::search::{
    SearchQuestion, SearchRecord, SearchSide, SearchSize, SearchStep, StoredSearch,
};
pub use record::trial::capacity::{CapacityRecord, FindRecord, ProbeRecord};
pub use record::trial::columns::{CountsRecord, Memory, Neighbours, Usage};
pub use record::trial::counters::{decode as decode_series, is_counter};
pub use record::trial::driver::{DriverLatency, DriverRecord, NetworkRecord};
pub use record::trial::event::{EventKind, EventOutcome, StepEventRecord, Timeline};
pub use record::trial::latency::{LatencyCounts, LatencyNs, LatencyRecord, latency_bytes, latency_record};
pub use record::trial::queries::{QueryAnswer, QueryPlan};
pub use record::trial::replay::{DigestRecord, LatenessRecord, ReplayRecord};
pub use record::trial::replica::{ReplicaRecord, ReplicationMode};
pub use record::trial::seconds::{Second, SecondRate};
pub use record::trial::stacks::{StackProfile, StackRecord};
pub use record::trial::statement_plans::StatementPlan;
pub use record::{
    Allocation, CLIENT_COUNTS_MAX, ClaimRecord, Configuration, Correction, CounterRecord, FactorLevel,
    FailureKind, GapsRecord, InstanceRecord, JoinRecord, LadderRecord, LeftTest, LimitsRecord, Measured,
    NAME_BYTES_MAX, Operation, Origin, Outcome, Phase, ResumptionRecord, RunId, RunRecord, SampleRecord,
    SliceRecord, StepRecord, SystemRecord, TrialId, TrialRecord, UnmetLimit,
};
pub use run::{Ending, Run, RunChoice, RunState, RunSummary, Trial};
