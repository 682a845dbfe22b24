//! Figures for report hooks.

use crate::lua::Stack;

/// Figures of an interval or of a whole run, with sysbench's names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    pub threads_running: u32,
    /// The interval's length. In the cumulative report it is the time since the last checkpoint.
    pub time_interval_seconds: f64,
    /// Time since the run began.
    pub time_total_seconds: f64,
    /// The latency percentile that `--percentile` selects.
    pub latency_pct_seconds: f64,
    /// Finished events.
    pub events: u64,
    /// Queries that read.
    pub reads: u64,
    /// Queries that wrote.
    pub writes: u64,
    /// Other queries.
    pub other: u64,
    pub errors: u64,
    pub reconnects: u64,
    /// Events that were due but had not started (intermediate report).
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

impl Stat {
    /// Pushes a table with sysbench's names for the figures.
    pub(crate) fn push(&self, stack: Stack) {
        let numbers = [
            ("threads_running", f64::from(self.threads_running)),
            ("time_interval", self.time_interval_seconds),
            ("time_total", self.time_total_seconds),
            ("latency_pct", self.latency_pct_seconds),
            ("events", self.events as f64),
            ("reads", self.reads as f64),
            ("writes", self.writes as f64),
            ("other", self.other as f64),
            ("errors", self.errors as f64),
            ("reconnects", self.reconnects as f64),
            ("queue_length", self.queue_length as f64),
            ("concurrency", self.concurrency as f64),
            ("latency_min", self.latency_min_seconds),
            ("latency_max", self.latency_max_seconds),
            ("latency_avg", self.latency_avg_seconds),
            ("latency_sum", self.latency_sum_seconds),
        ];
        stack.push_table(0, numbers.len() as i32);
        for (name, number) in numbers {
            stack.push_number(number);
            stack.set_field(-2, name);
        }
    }
}
