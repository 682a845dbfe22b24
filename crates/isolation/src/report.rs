//! What a test of isolation found.

use serde::Serialize;

use crate::level::{Level, Model};

/// What a test of isolation found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IsolationReport {
    pub system: String,
    /// The version as the system reports it.
    pub version: String,
    pub level: Level,
    /// The model that was tested.
    pub model: Model,
    /// The replicas that read-only transactions used, if there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicaReads>,
    pub clients: u32,
    pub seed: u64,
    pub committed: u64,
    /// Transactions that were rolled back, most of them because the server refused a statement.
    pub failed: u64,
    /// Transactions whose commit was not answered.
    pub unknown: u64,
    /// All anomalies, also those that the model allows, by their kinds.
    pub anomalies: Vec<AnomalyReport>,
    /// The strongest of the models that no anomaly excludes; `None` if all are excluded.
    pub strongest: Option<Model>,
    pub verdict: Verdict,
}

/// Replicas that read-only transactions used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicaReads {
    pub replicas: u32,
    pub replication: dyno_engine::ReplicationMode,
    /// Time for which they hold back what they have received, in seconds.
    pub delay_seconds: u32,
}

/// Anomalies of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnomalyReport {
    /// Its name in the literature, such as `G-single-item`.
    pub kind: String,
    /// How many were found. The search ends with the first of each group of transactions that depend on each other.
    pub count: u64,
    /// The first one, in words.
    pub example: String,
}

/// Whether the history agrees with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No anomaly was found that the model excludes.
    Kept,
    Broken,
    /// The search for cycles did not end in time, or there was too little to judge.
    Unknown,
}
