//! Figures of an interval or a run.

use std::collections::BTreeMap;

use dyno_load::{Counts, Fairness, Latency, LatencyNs, StatementLatency, Tick, Total};
use dyno_script::Stat;

/// Figures of an interval, or of a whole run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) seconds: f64,
    /// Time from the beginning of the run to the end of the interval.
    pub(crate) elapsed_seconds: f64,
    pub(crate) counts: Counts,
    pub(crate) error_codes: BTreeMap<String, u64>,
    pub(crate) latency: Latency,
    pub(crate) statements: StatementLatency,
    /// Number of threads of the whole run.
    pub(crate) threads: u32,
    /// Number of threads that were inside an event at the end of the interval.
    pub(crate) running: u32,
    /// Number of events that were due but had not begun at the end of the interval.
    pub(crate) backlog: u64,
    /// Number of events that were dropped at the end of the run because they took too long.
    pub(crate) unfinished: u32,
    /// How evenly threads were served. It is known only for whole runs, and for the time up to a checkpoint.
    pub(crate) fairness: Option<Fairness>,
    /// CPU time of the load process.
    pub(crate) client_cpu_us: u64,
}

impl Figures {
    /// Adds a later interval.
    pub(crate) fn add(&mut self, tick: &Tick) {
        self.seconds += tick.seconds;
        self.elapsed_seconds += tick.seconds;
        self.counts += tick.counts;
        for (code, count) in &tick.error_codes {
            *self.error_codes.entry(code.clone()).or_default() += count;
        }
        self.latency.merge(&tick.latency);
        self.statements.merge(&tick.statements);
        self.running = tick.running;
        self.backlog = tick.backlog;
        self.client_cpu_us += tick.usage.user_us + tick.usage.system_us;
    }

    /// The figures of a whole run.
    pub(crate) fn of_run(total: &Total, threads: u32) -> Self {
        Self {
            seconds: total.seconds,
            elapsed_seconds: total.seconds,
            counts: total.counts,
            error_codes: total.error_codes.clone(),
            latency: total.latency.clone(),
            statements: total.statements.clone(),
            threads,
            running: 0,
            backlog: total.backlog,
            unfinished: total.unfinished,
            fairness: Some(total.fairness),
            client_cpu_us: total.usage.user_us + total.usage.system_us,
        }
    }

    /// Ends the interval and returns its figures. The next interval begins at the same time.
    pub(crate) fn take(&mut self) -> Self {
        let next = Self { elapsed_seconds: self.elapsed_seconds, threads: self.threads, ..Self::default() };
        std::mem::replace(self, next)
    }

    pub(crate) fn per_second(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }

    /// A figure of the latencies, in ms. If there were no events it is 0, as in sysbench's reports.
    fn exact_ms(&self, of: fn(LatencyNs) -> u64) -> f64 {
        self.latency.exact().map_or(0.0, |exact| of(exact) as f64 / 1e6)
    }

    pub(crate) fn latency_min_ms(&self) -> f64 {
        self.exact_ms(|exact| exact.min_ns)
    }

    pub(crate) fn latency_max_ms(&self) -> f64 {
        self.exact_ms(|exact| exact.max_ns)
    }

    pub(crate) fn latency_avg_ms(&self) -> f64 {
        self.latency.mean_ns().map_or(0.0, |ns| ns / 1e6)
    }

    pub(crate) fn latency_sum_ms(&self) -> f64 {
        self.exact_ms(|exact| exact.sum_ns)
    }

    pub(crate) fn percentile_ms(&self, percentile: f64) -> f64 {
        self.latency.quantile_ns(percentile / 100.0).map_or(0.0, |ns| ns / 1e6)
    }

    /// The figures for scripts' hooks.
    pub(crate) fn stat(&self, percentile: Option<f64>) -> Stat {
        Stat {
            threads_running: self.threads,
            time_interval_seconds: self.seconds,
            time_total_seconds: self.elapsed_seconds,
            latency_pct_seconds: percentile.map_or(0.0, |percentile| self.percentile_ms(percentile) / 1e3),
            events: self.counts.events,
            reads: self.counts.reads,
            writes: self.counts.writes,
            other: self.counts.others,
            errors: self.counts.ignored_errors(),
            reconnects: self.counts.reconnects,
            queue_length: self.backlog,
            concurrency: u64::from(self.running),
            latency_min_seconds: self.latency_min_ms() / 1e3,
            latency_max_seconds: self.latency_max_ms() / 1e3,
            latency_avg_seconds: self.latency_avg_ms() / 1e3,
            latency_sum_seconds: self.latency_sum_ms() / 1e3,
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// 1,000 events of 1 to 1,000 µs in 2 s on 4 threads, with 20 queries in each event.
    pub(crate) fn figures() -> Figures {
        let mut latency = Latency::default();
        (1..=1000).for_each(|us| latency.record_us(us));
        Figures {
            seconds: 2.0,
            elapsed_seconds: 2.0,
            counts: Counts {
                events: 1000,
                reads: 14_000,
                writes: 4000,
                others: 2000,
                errors: 3,
                reconnects: 1,
                failed: 0,
                rows: 0,
            },
            error_codes: BTreeMap::from([("1213".to_owned(), 3)]),
            latency,
            statements: StatementLatency::default(),
            threads: 4,
            running: 3,
            backlog: 7,
            unfinished: 0,
            fairness: Some(Fairness {
                events_avg: 250.0,
                events_stddev: 1.5,
                seconds_avg: 0.125_125,
                seconds_stddev: 0.01,
            }),
            client_cpu_us: 40_000,
        }
    }
}
