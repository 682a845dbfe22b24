//! Instances of systems.

/// One start of a system on one copy of its data. Properties that stay the same during its life (memory layout, data
/// layout) differ between instances. Instances are therefore the statistical units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceRecord {
    pub system_id: String,
    /// Number of its round, from 0.
    pub round: u32,
    /// When its start began, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// Whether it differs from the instance of the previous round. False for a server that Dyno does not start.
    pub is_fresh: bool,
    /// Time until it answered queries, in seconds.
    pub start_seconds: f64,
    /// Time of reading its tables afterwards, in seconds.
    pub warm_seconds: f64,
    /// Time until it was at rest after its start, in seconds. All systems of a round wait together.
    pub settle_seconds: f64,
}
