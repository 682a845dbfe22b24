//! The records of the results file: a run, its systems, its steps and their trials.

pub(crate) mod id;
pub(crate) mod run;
pub(crate) mod trial;

pub use id::{RunId, TrialId};
pub use run::instance::InstanceRecord;
pub use run::step::{CLIENT_COUNTS_MAX, JoinRecord, NAME_BYTES_MAX, Operation, StepRecord};
pub use run::system::{Configuration, FactorLevel, Origin, SystemRecord};
pub use run::{Allocation, ClaimRecord, Correction, LadderRecord, LeftTest, ResumptionRecord, RunRecord};
pub use trial::counters::CounterRecord;
pub use trial::limits::{LimitsRecord, UnmetLimit};
pub use trial::measured::{Measured, Phase, SampleRecord};
pub use trial::{FailureKind, GapsRecord, Outcome, SliceRecord, TrialRecord};
