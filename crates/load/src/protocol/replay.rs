//! A replay: logged traffic of a server is sent in place of a script's events.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use dyno_traffic::NotSent;
use serde::{Deserialize, Serialize};

use crate::measure::latency::{Latency, LatencyNs};

/// The traffic that a job sends. The job has no script. It ends when the traffic ends, or after the job's seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The traffic file.
    pub file: PathBuf,
    /// Factor by which the traffic is sent faster than it was logged. If it is `None`, each statement of a session
    /// is sent when the previous one has ended, and as many sessions run at once as the job has connections.
    pub pace: Option<f64>,
    /// Whether to send statements that change more than their database ([`NotSent::Server`]).
    #[serde(default)]
    pub sends_server_statements: bool,
    /// Whether to read the rows of all answers, so that answers can be compared.
    #[serde(default)]
    pub reads_answers: bool,
    /// Whether each statement waits for the commits of other sessions: all commits that had ended in the log before the
    /// statement began ([`Commits`](dyno_traffic::Commits)).
    #[serde(default)]
    pub keeps_order: bool,
    /// Whether to keep an example of each of the digests that took the most time.
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
    /// Statements that were sent although a commit before them in the log had not ended. This happens only if no other
    /// statement can be sent, because sessions wait for each other's commits.
    #[serde(default)]
    pub out_of_order: u64,
    /// Numbers of statements that were not sent, by reason.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// How late statements were sent. Statements whose session was still busy when they were due are not included.
    /// Empty if the replay has no pace.
    pub late: Latency,
    /// The figures of each digest, in the order of the ids.
    pub digests: Vec<ReplayedDigest>,
}

/// The figures of a digest's statements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedDigest {
    /// The digest's id in the traffic file.
    pub id: i64,
    /// Statements that were answered, with rows or an error.
    pub statements: u64,
    /// Rows that the statements returned.
    pub rows: u64,
    /// Rows that the statements changed.
    pub affected_rows: u64,
    /// Errors by number, or by SQL state if the server has no numbers.
    pub error_codes: BTreeMap<String, u64>,
    /// A hash of the answers to statements without an error. It does not depend on the order of rows and
    /// statements. Without [`reads_answers`](Replay::reads_answers), it covers only the numbers of rows.
    pub answers: u64,
    /// Time from sending a statement until its answer, for statements without an error.
    pub latency: PackedLatency,
    /// The digest's first statement with values, if servers can explain it. Only the digests that took the most
    /// time have an example, and only if [`keeps_examples`](Replay::keeps_examples) is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Latencies in the compact form in which they are stored and sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PackedLatency {
    /// The histogram in the form of [`Latency::to_base64`].
    histogram: String,
    /// Minimum, maximum and sum; `None` if there are no latencies.
    pub exact: Option<LatencyNs>,
}

impl PackedLatency {
    pub(crate) fn of(latency: &Latency) -> Self {
        Self { histogram: latency.to_base64(), exact: latency.exact() }
    }

    /// Returns the bytes of [`Latency::to_bytes`]; empty if the base64 is invalid.
    pub fn to_bytes(&self) -> Vec<u8> {
        STANDARD_NO_PAD.decode(self.histogram.as_bytes()).unwrap_or_default()
    }
}
