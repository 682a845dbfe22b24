//! The history of a test: what each transaction requested and how it ended, in the order in which the clients saw
//! it.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::check::{Judged, check};
use crate::level::Model;

/// An operation of a transaction. A read includes the list that it returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Append {
        key: u64,
        value: u64,
    },
    /// `list` is `None` until the read is executed.
    Read {
        key: u64,
        list: Option<Vec<u64>>,
    },
}

/// How a transaction ended, as its client saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    /// The transaction was rolled back.
    Failed,
    /// The transaction's commit was sent, but no answer arrived, so nobody knows whether the transaction took effect.
    Unknown,
}

/// How many transactions ended in each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) committed: u64,
    pub(crate) failed: u64,
    pub(crate) unknown: u64,
}

/// Records a history. All clients share one recorder.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Recording>);

#[derive(Debug, Default)]
struct Recording {
    /// A line of JSON for each begin and each end, in the form of Jepsen's histories.
    lines: String,
    ends: Ends,
}

impl Recorder {
    /// Records that a transaction is about to be sent.
    pub(crate) fn begin(&self, process: u32, operations: &[Recorded]) {
        self.note(process, "invoke", operations, |_| {});
    }

    /// Records that a transaction has ended.
    pub(crate) fn end(&self, process: u32, end: End, operations: &[Recorded]) {
        let kind = match end {
            End::Committed => "ok",
            End::Failed => "fail",
            End::Unknown => "info",
        };
        self.note(process, kind, operations, |ends| match end {
            End::Committed => ends.committed += 1,
            End::Failed => ends.failed += 1,
            End::Unknown => ends.unknown += 1,
        });
    }

    fn note(&self, process: u32, kind: &str, operations: &[Recorded], count: impl FnOnce(&mut Ends)) {
        let value: Vec<Value> = operations.iter().map(form).collect();
        let line = json!({ "type": kind, "process": process, "value": value });
        let mut recording = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a text cannot fail.
        let _ = writeln!(recording.lines, "{line}");
        count(&mut recording.ends);
    }

    /// Judges the recorded history by a model.
    ///
    /// # Errors
    /// The recorded history cannot be parsed.
    pub fn judge(self, model: Model) -> Result<Judged, String> {
        check(&self.finish().0, model)
    }

    /// Returns the history, and how many of its transactions ended in each way.
    pub(crate) fn finish(self) -> (String, Ends) {
        let recording = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (recording.lines, recording.ends)
    }
}

/// The operation in Jepsen's form, such as `["append", 3, 7]` or `["r", 3, [1, 7]]`.
fn form(operation: &Recorded) -> Value {
    match operation {
        Recorded::Append { key, value } => json!(["append", key, value]),
        Recorded::Read { key, list } => json!(["r", key, list]),
    }
}
