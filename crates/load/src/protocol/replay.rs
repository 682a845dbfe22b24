//! A replay: the traffic of a server, in place of a script's events.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use dyno_traffic::NotSent;
use serde::{Deserialize, Serialize};

use crate::measure::latency::{Latency, LatencyNs};

/// The traffic that a job sends. The job has no script, and ends with the traffic or by its seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The traffic file.
    pub file: PathBuf,
    /// How many times as fast as it was logged. `None` sends each statement of a session when the previous one has
    /// ended, in as many sessions at once as the job has connections.
    pub pace: Option<f64>,
    /// Whether statements are sent that change more than their database ([`NotSent::Server`]).
    #[serde(default)]
    pub sends_server_statements: bool,
    /// Whether the rows of all answers are read, to be compared.
    #[serde(default)]
    pub reads_answers: bool,
    /// Whether each statement waits for the commits of all sessions that had ended before it began in the log
    /// ([`Commits`](dyno_traffic::Commits)).
    #[serde(default)]
    pub keeps_order: bool,
    /// Whether an example is kept of the digests that took the most time.
    #[serde(default)]
    pub keeps_examples: bool,
}

/// The figures of a replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Sessions whose connection the server refused.
    pub sessions_refused: u64,
    /// Sessions that the server closed before their end.
    pub sessions_lost: u64,
    /// Statements that were sent although an earlier commit had not ended, because nothing else could continue.
    #[serde(default)]
    pub out_of_order: u64,
    /// Statements that were not sent.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// How late statements were sent, except those whose session was still busy when they were due. Empty without a
    /// pace.
    pub late: Latency,
    /// By digest, in the order of their ids.
    pub digests: Vec<ReplayedDigest>,
}

/// The statements of a digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedDigest {
    /// Its id in the traffic file.
    pub id: i64,
    /// Statements that were answered, with rows or an error.
    pub statements: u64,
    /// Rows that they returned.
    pub rows: u64,
    /// Rows that they changed.
    pub affected_rows: u64,
    /// Errors by number, or by SQL state for a server that has no numbers.
    pub error_codes: BTreeMap<String, u64>,
    /// A hash of the answers to statements without an error. It does not depend on the order of rows and statements.
    /// Without [`reads_answers`](Replay::reads_answers), it covers only the numbers of rows.
    pub answers: u64,
    /// Time from sending a statement until its answer, for statements without an error.
    pub latency: PackedLatency,
    /// Its first statement with values, if servers can explain it. Only those that took the longest have one, and only
    /// if [`keeps_examples`](Replay::keeps_examples) is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Latencies in a compact form, to be kept or passed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PackedLatency {
    /// As [`Latency::to_base64`].
    histogram: String,
    /// `None` without a latency.
    pub exact: Option<LatencyNs>,
}

impl PackedLatency {
    pub(crate) fn of(latency: &Latency) -> Self {
        Self { histogram: latency.to_base64(), exact: latency.exact() }
    }

    /// As [`Latency::to_bytes`]; empty if another process wrote something else.
    pub fn to_bytes(&self) -> Vec<u8> {
        STANDARD_NO_PAD.decode(self.histogram.as_bytes()).unwrap_or_default()
    }
}
