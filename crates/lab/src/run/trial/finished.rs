//! The outcome of a trial.

use dyno_load::Noted;
use dyno_store::{FailureKind, Outcome, TrialRecord};

use crate::run::not_started::NotStarted;

/// A trial that has ended, in the form of the results file. Only its position in the run is missing.
pub(crate) struct FinishedTrial {
    pub(crate) record: TrialRecord,
    /// The records of the step's background loads. Each counts as a separate trial.
    pub(crate) background: Vec<TrialRecord>,
    /// The statements of the load, if statements were recorded.
    pub(crate) noted: Noted,
}

impl FinishedTrial {
    pub(crate) fn new(record: TrialRecord) -> Self {
        Self { record, background: Vec::new(), noted: Noted::default() }
    }

    /// A trial without measurements.
    pub(crate) fn failed(record: TrialRecord, message: String, log_tail: String) -> Self {
        let outcome = Outcome::Failed { kind: FailureKind::Trial, message, log_tail };
        Self::new(TrialRecord { outcome, ..record })
    }

    /// A trial of a system that did not start.
    pub(crate) fn not_started(record: TrialRecord, why: &NotStarted) -> Self {
        let NotStarted { message, log_tail, .. } = why.clone();
        let outcome = Outcome::Failed { kind: FailureKind::Start, message, log_tail };
        Self::new(TrialRecord { outcome, ..record })
    }
}
