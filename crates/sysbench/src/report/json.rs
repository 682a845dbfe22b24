//! Results as JSON Lines; `docs/reference/load-generator.schema.json` describes them.

use std::collections::BTreeMap;

use dyno_load::{Connected, Fairness, Latency, LatencyNs, StatementLatency, Total};
use dyno_printable::printable_json;
use serde::Serialize;

use super::figures::Figures;
use super::percentile;
use crate::options::settings::Settings;

/// Percentiles in every object, in addition to those of `--percentile`.
const PERCENTILES: &[f64] = &[50.0, 90.0, 95.0, 99.0, 99.9];

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Start {
        dyno_version: &'a str,
        sysbench_version: &'a str,
        test: &'a str,
        threads: u32,
        /// The seed as text, because many JSON readers lose digits of numbers this large.
        seed: String,
        /// The rate as the user wrote it; `None` in a closed loop.
        rate: Option<&'a str>,
        method: &'a str,
    },
    /// An interval is over.
    Interval {
        warmup: bool,
        #[serde(flatten)]
        stretch: Stretch,
    },
    /// A checkpoint is reached. The figures cover the time since the previous checkpoint.
    Checkpoint {
        #[serde(flatten)]
        stretch: Stretch,
    },
    /// The run is over.
    Final {
        #[serde(flatten)]
        stretch: Stretch,
        #[serde(flatten)]
        run: Run,
    },
    /// The run has failed.
    Failed { message: &'a str },
}

impl<'a> Line<'a> {
    pub(super) fn start(test: &'a str, connected: &'a Connected, settings: &'a Settings) -> Self {
        Self::Start {
            dyno_version: env!("CARGO_PKG_VERSION"),
            sysbench_version: settings.compat.version(),
            test,
            threads: connected.connections,
            seed: settings.seed.number().to_string(),
            rate: settings.rate.as_ref().map(|_| settings.rate_text.as_str()),
            method: &connected.method,
        }
    }

    /// The object as text, with a line end.
    pub(super) fn text(&self) -> String {
        // Maps with text keys and finite numbers can always be written as JSON.
        printable_json(&serde_json::to_string(self).expect("results are JSON")).into_owned() + "\n"
    }
}

/// Figures of an interval.
#[derive(Debug, Serialize)]
pub(super) struct Stretch {
    time_seconds: f64,
    seconds: f64,
    threads: u32,
    events: u64,
    events_per_second: f64,
    queries: Queries,
    queries_per_second: f64,
    rows: u64,
    errors: u64,
    error_codes: BTreeMap<String, u64>,
    reconnects: u64,
    backlog: u64,
    latency_ms: LatencyMs,
    statement_latency_ms: StatementLatencyMs,
    client_cpu_us: u64,
}

#[derive(Debug, Serialize)]
struct Queries {
    reads: u64,
    writes: u64,
    others: u64,
    total: u64,
}

/// Latencies in milliseconds. Each is `None` if nothing was done.
#[derive(Debug, Serialize)]
struct LatencyMs {
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    percentiles: BTreeMap<String, Option<f64>>,
}

impl Stretch {
    pub(super) fn new(figures: &Figures, percentiles: &[f64]) -> Self {
        let counts = &figures.counts;
        Self {
            time_seconds: figures.elapsed_seconds,
            seconds: figures.seconds,
            threads: figures.threads,
            events: counts.events,
            events_per_second: figures.per_second(counts.events),
            queries: Queries {
                reads: counts.reads,
                writes: counts.writes,
                others: counts.others,
                total: counts.queries(),
            },
            queries_per_second: figures.per_second(counts.queries()),
            rows: counts.rows,
            errors: counts.ignored_errors(),
            error_codes: figures.error_codes.clone(),
            reconnects: counts.reconnects,
            backlog: figures.backlog,
            latency_ms: LatencyMs::new(&figures.latency, percentiles),
            statement_latency_ms: StatementLatencyMs::new(&figures.statements, percentiles),
            client_cpu_us: figures.client_cpu_us,
        }
    }
}

impl LatencyMs {
    fn new(latency: &Latency, percentiles: &[f64]) -> Self {
        let exact_ms = |of: fn(LatencyNs) -> u64| latency.exact().map(|exact| of(exact) as f64 / 1e6);
        let percentile_ms = |at: f64| latency.quantile_ns(at / 100.0).map(|ns| ns / 1e6);
        let percentiles =
            PERCENTILES.iter().chain(percentiles).map(|&at| (percentile::number(at), percentile_ms(at)));
        Self {
            min: exact_ms(|exact| exact.min_ns),
            mean: latency.mean_ns().map(|ns| ns / 1e6),
            max: exact_ms(|exact| exact.max_ns),
            percentiles: percentiles.collect(),
        }
    }
}

/// Latencies of statements by kind.
#[derive(Debug, Serialize)]
struct StatementLatencyMs {
    reads: LatencyMs,
    writes: LatencyMs,
    others: LatencyMs,
}

impl StatementLatencyMs {
    fn new(statements: &StatementLatency, percentiles: &[f64]) -> Self {
        let kind = |latency: &Latency| LatencyMs::new(latency, percentiles);
        Self {
            reads: kind(&statements.reads),
            writes: kind(&statements.writes),
            others: kind(&statements.others),
        }
    }
}

/// Figures that only whole runs have.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    /// Whether events began when they were due. `None` in a closed loop, where events are not due at a time.
    rate_sustained: Option<bool>,
    unfinished: u32,
    stall_us_max: u64,
    fairness: Fairness,
    /// The histogram in HDR V2 format, as base64.
    histogram: String,
}

impl Run {
    pub(super) fn new(total: &Total, rate_sustained: Option<bool>) -> Self {
        Self {
            rate_sustained,
            unfinished: total.unfinished,
            stall_us_max: total.stall_us_max,
            fairness: total.fairness,
            histogram: total.latency.to_base64(),
        }
    }
}
