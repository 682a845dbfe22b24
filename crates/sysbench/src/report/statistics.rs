//! The report at the end, and at checkpoints.

use std::fmt::Write as _;

use dyno_load::Fairness;

use super::Subject;
use super::figures::Figures;
use super::{histogram, percentile};
use crate::settings::{Compat, Settings};

/// Everything from the histogram to the fairness of threads, and the blank line after it.
pub(super) fn text(subject: Subject, figures: &Figures, settings: &Settings) -> String {
    let mut text = String::new();
    if settings.histogram {
        text += &histogram::draw(&figures.latency);
    }
    text += &work(subject, figures);
    text += &match settings.compat {
        Compat::V1_0 => general(figures),
        Compat::V1_1 => throughput(figures),
    };
    text += &latencies(figures, &settings.percentiles);
    if let Some(fairness) = &figures.fairness {
        text += &threads(fairness);
    }
    text + "\n"
}

/// What the test did.
fn work(subject: Subject, figures: &Figures) -> String {
    let events = figures.counts.events;
    let rate = figures.per_second(events);
    match subject {
        Subject::Database => queries(figures),
        Subject::Events => String::new(),
        Subject::Cpu => format!("CPU speed:\n    events per second: {rate:8.2}\n"),
        Subject::Memory { block_bytes } => {
            let operations = format!("Total operations: {events} ({rate:8.2} per second)\n\n");
            let Some(block_bytes) = block_bytes else { return operations };
            let mib = events as f64 * block_bytes as f64 / f64::from(1 << 20);
            let per_second = rate * block_bytes as f64 / f64::from(1 << 20);
            format!("{operations}{mib:.2} MiB transferred ({per_second:.2} MiB/sec)\n\n")
        }
    }
}

fn queries(figures: &Figures) -> String {
    let counts = &figures.counts;
    let line = |name: &str, count: u64| {
        format!("    {name:<36} {count:<6} ({:.2} per sec.)\n", figures.per_second(count))
    };
    format!(
        "SQL statistics:\n    queries performed:\n        \
         read:                            {}\n        \
         write:                           {}\n        \
         other:                           {}\n        \
         total:                           {}\n{}{}{}{}",
        counts.reads,
        counts.writes,
        counts.others,
        counts.queries(),
        line("transactions:", counts.events),
        line("queries:", counts.queries()),
        line("ignored errors:", counts.errors),
        line("reconnects:", counts.reconnects),
    )
}

fn general(figures: &Figures) -> String {
    format!(
        "\nGeneral statistics:\n    \
         total time:                          {:.4}s\n    \
         total number of events:              {}\n",
        figures.elapsed_seconds, figures.counts.events
    )
}

fn throughput(figures: &Figures) -> String {
    format!(
        "\nThroughput:\n    \
         events/s (eps):                      {:.4}\n    \
         time elapsed:                        {:.4}s\n    \
         total number of events:              {}\n",
        figures.per_second(figures.counts.events),
        figures.elapsed_seconds,
        figures.counts.events
    )
}

fn latencies(figures: &Figures, percentiles: &[f64]) -> String {
    let line = |name: &str, ms: f64| format!("         {name:<31}{ms:>13.2}\n");
    let mut text = String::from("\nLatency (ms):\n");
    text += &line("min:", figures.latency_min_ms());
    text += &line("avg:", figures.latency_avg_ms());
    text += &line("max:", figures.latency_max_ms());
    for &at in percentiles {
        let name = format!("{}th percentile:", percentile::number(at));
        text += &line(&name, figures.percentile_ms(at));
    }
    if percentiles.is_empty() {
        text += "         percentile stats:               disabled\n";
    }
    text + &line("sum:", figures.latency_sum_ms())
}

fn threads(fairness: &Fairness) -> String {
    let mut text = String::from("\nThreads fairness:\n");
    let _ = writeln!(
        text,
        "    events (avg/stddev):           {:.4}/{:.2}\n    execution time (avg/stddev):   {:.4}/{:.2}",
        fairness.events_avg, fairness.events_stddev, fairness.seconds_avg, fairness.seconds_stddev
    );
    text
}
