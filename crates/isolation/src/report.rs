//! The result of a test of isolation.

use serde::Serialize;

use crate::level::{Level, Model};

/// The result of a test of isolation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IsolationReport {
    pub system: String,
    /// The version as the system reports it.
    pub version: String,
    pub level: Level,
    /// The model that the history was judged by.
    pub model: Model,
    /// The replicas that read-only transactions used; `None` if all transactions ran on the primary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicaReads>,
    pub clients: u32,
    pub seed: u64,
    pub committed: u64,
    /// Transactions that were rolled back, most of them because the server refused a statement.
    pub failed: u64,
    /// Transactions whose commit was sent but not answered.
    pub unknown: u64,
    /// All anomalies by kind, including those that the model allows.
    pub anomalies: Vec<AnomalyReport>,
    /// The strongest model that no anomaly excludes. `None` if every model is excluded.
    pub strongest: Option<Model>,
    pub verdict: Verdict,
}

/// Replicas that read-only transactions used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicaReads {
    pub replicas: u32,
    pub replication: dyno_engine::ReplicationMode,
    /// How long each replica waits before it applies what it has received, in seconds.
    pub delay_seconds: u32,
}

/// Anomalies of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnomalyReport {
    /// The kind's name in the literature, such as `G-single-item`.
    pub kind: String,
    /// Number of anomalies found. The search stops at the first anomaly in each group of transactions that depend
    /// on each other.
    pub count: u64,
    /// The first anomaly, described in words.
    pub example: String,
}

/// Whether the history agrees with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The history has no anomaly that the model excludes.
    Kept,
    Broken,
    /// The search for cycles exceeded its time limit, or no transaction was committed.
    Unknown,
}
