//! What a trial came to.

use dyno_load::Noted;
use dyno_store::{Outcome, TrialRecord};

/// A trial that ended, as the results file keeps it but for its position in the run.
pub(crate) struct FinishedTrial {
    pub(crate) record: TrialRecord,
    /// The background loads of its step, each as a trial of its own.
    pub(crate) background: Vec<TrialRecord>,
    /// The statements of its load, if they were noted.
    pub(crate) noted: Noted,
}

impl FinishedTrial {
    pub(crate) fn new(record: TrialRecord) -> Self {
        Self { record, background: Vec::new(), noted: Noted::default() }
    }

    /// A trial of which nothing was measured.
    pub(crate) fn failed(record: TrialRecord, message: String, log_tail: String) -> Self {
        Self::new(TrialRecord { outcome: Outcome::Failed { message, log_tail }, ..record })
    }
}
