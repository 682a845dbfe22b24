//! What scripts' report hooks are told.

/// Figures of an interval, or of a whole run, under the names that scripts know them by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    /// Tasks at work.
    pub threads_running: u32,
    /// The interval's length; for the cumulative report the time since the last checkpoint.
    pub time_interval_seconds: f64,
    /// Time since the run began.
    pub time_total_seconds: f64,
    /// The percentile of latency that `--percentile` asks for.
    pub latency_pct_seconds: f64,
    /// Finished events.
    pub events: u64,
    /// Queries that read.
    pub reads: u64,
    /// Queries that wrote.
    pub writes: u64,
    /// Other queries.
    pub other: u64,
    /// Ignored errors.
    pub errors: u64,
    /// Connections made anew.
    pub reconnects: u64,
    /// Events that were due and had not begun (intermediate report).
    pub queue_length: u64,
    /// Tasks inside an event (intermediate report).
    pub concurrency: u64,
    /// Smallest latency (cumulative report).
    pub latency_min_seconds: f64,
    /// Largest latency (cumulative report).
    pub latency_max_seconds: f64,
    /// Mean latency (cumulative report).
    pub latency_avg_seconds: f64,
    /// Sum of latencies (cumulative report).
    pub latency_sum_seconds: f64,
}
