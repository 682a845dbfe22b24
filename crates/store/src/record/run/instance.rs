//! Instances of systems.

/// One start of a system on one copy of its data. Some properties, such as the layout of memory and data, differ
/// between instances but do not change while an instance runs. Instances are therefore the statistical units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceRecord {
    pub system_id: String,
    /// The round, from 0.
    pub round: u32,
    /// When the start began, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// Whether this instance was started for this round. False if it is the instance of the previous round, or if
    /// Dyno does not start the server.
    pub is_fresh: bool,
    /// Time from the start until the system answered queries, in seconds.
    pub start_seconds: f64,
    /// Time for reading the system's tables after the start, in seconds.
    pub warm_seconds: f64,
    /// Time from when the round's systems had been started until this system was at rest, in seconds.
    pub settle_seconds: f64,
}
