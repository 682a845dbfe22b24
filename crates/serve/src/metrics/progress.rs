//! Metrics of the run in progress.

use super::exposition::{Exposition, Labels};
use super::runs::with;
use crate::live::Live;

/// Writes the progress of the run, and the latest second of its current trial.
pub(super) fn write(plan: &str, live: &Live, to: &mut Exposition) {
    let labels = || vec![("plan", plan.to_owned())];
    to.gauge(
        "dyno_progress_trials",
        "Trials of the run in progress: ended trials (including failed ones), failed trials, and all planned trials.",
        [("ended", live.ended), ("failed", live.failed), ("all", live.of)]
            .map(|(state, count)| (with(labels(), "state", state), count as f64)),
    );
    to.gauge(
        "dyno_progress_left_seconds",
        "Estimated time until the run in progress ends.",
        live.seconds_left.map(|seconds| (labels(), seconds)),
    );
    let Some(doing) = &live.doing else { return };
    let of_trial = || -> Labels {
        let clients = doing.clients.to_string();
        let more = [("system", doing.system.clone()), ("step", doing.step.clone()), ("clients", clients)];
        labels().into_iter().chain(more).collect()
    };
    to.gauge(
        "dyno_progress_round",
        "Round of the current trial, from 1.",
        [(of_trial(), f64::from(doing.round) + 1.0)],
    );
    to.gauge(
        "dyno_progress_operations_per_second",
        "Rate in the latest second of the current trial.",
        live.seconds.operations_per_second.last().map(|rate| (of_trial(), *rate)),
    );
    let latencies =
        [("50", &live.seconds.p50_us), ("95", &live.seconds.p95_us), ("99", &live.seconds.p99_us)];
    to.gauge(
        "dyno_progress_latency_seconds",
        "Percentile of the latency in the latest second of the current trial.",
        latencies.into_iter().filter_map(|(name, values)| {
            let us = (*values.last()?)?;
            Some((with(of_trial(), "percentile", name), us as f64 / 1e6))
        }),
    );
}
