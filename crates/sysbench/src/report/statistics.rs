//! The report at the end, and at checkpoints.

use std::fmt::Write as _;

use dyno_load::Fairness;

use super::ReportedWork;
use super::figures::Figures;
use super::percentile;
use crate::options::settings::{Compat, Settings};

/// The report from the work of the test to the fairness of threads, followed by a blank line.
pub(super) fn text(subject: ReportedWork, figures: &Figures, settings: &Settings) -> String {
    let mut text = work(subject, figures);
    if figures.unfinished > 0 {
        let _ =
            writeln!(text, "\nNumber of unfinished transactions on forced shutdown: {}", figures.unfinished);
    }
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

/// The part of the report about the work of the test: SQL statistics or the speed of the CPU. Empty for other events.
fn work(subject: ReportedWork, figures: &Figures) -> String {
    match subject {
        ReportedWork::Database => queries(figures),
        ReportedWork::Events => String::new(),
        ReportedWork::Cpu => {
            let rate = figures.per_second(figures.counts.events);
            format!("CPU speed:\n    events per second: {rate:8.2}\n")
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
        line("ignored errors:", counts.ignored_errors()),
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
    let line = |name: &str, ms: f64| format!("        {name:<32}{ms:>13.2}\n");
    let mut text = String::from("\nLatency (ms):\n");
    text += &line(" min:", figures.latency_min_ms());
    text += &line(" avg:", figures.latency_avg_ms());
    text += &line(" max:", figures.latency_max_ms());
    for &at in percentiles {
        let name = format!("{:>3}th percentile:", percentile::number(at));
        text += &line(&name, figures.percentile_ms(at));
    }
    if percentiles.is_empty() {
        text += "         percentile stats:               disabled\n";
    }
    text + &line(" sum:", figures.latency_sum_ms())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use dyno_load::{Counts, Latency};

    use super::*;
    use crate::options::Arguments;
    use crate::report::figures::testing::figures;

    fn settings(arguments: &[&str]) -> Settings {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        Settings::of(&Arguments::parse(&arguments).unwrap().values).unwrap()
    }

    /// The expected layout is the output of sysbench 1.0.20 for a run with these figures.
    #[test]
    fn a_database_is_reported_byte_for_byte() {
        let mut latency = Latency::default();
        for (latency_us, count) in [(1020, 1), (4500, 1200), (4950, 121), (7080, 1)] {
            (0..count).for_each(|_| latency.record_us(latency_us));
        }
        let figures = Figures {
            seconds: 3.007,
            elapsed_seconds: 3.007,
            counts: Counts { events: 1323, reads: 18_522, others: 2646, ..Counts::default() },
            error_codes: BTreeMap::new(),
            latency,
            threads: 2,
            fairness: Some(Fairness {
                events_avg: 661.5,
                events_stddev: 0.5,
                seconds_avg: 3.003_525,
                seconds_stddev: 0.001,
            }),
            ..Figures::default()
        };
        assert_eq!(
            text(ReportedWork::Database, &figures, &settings(&[])),
            "SQL statistics:
    queries performed:
        read:                            18522
        write:                           0
        other:                           2646
        total:                           21168
    transactions:                        1323   (439.97 per sec.)
    queries:                             21168  (7039.57 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          3.0070s
    total number of events:              1323

Latency (ms):
         min:                                    1.02
         avg:                                    4.54
         max:                                    7.08
         95th percentile:                        4.95
         sum:                                 6007.05

Threads fairness:
    events (avg/stddev):           661.5000/0.50
    execution time (avg/stddev):   3.0035/0.00

"
        );
    }

    #[test]
    fn tests_without_a_database_have_sections_of_their_own() {
        let none = &settings(&["--percentile=0"]);
        let cpu = text(ReportedWork::Cpu, &figures(), none);
        assert!(
            cpu.starts_with("CPU speed:\n    events per second:   500.00\n\nGeneral statistics:\n"),
            "{cpu}"
        );
        assert!(cpu.contains("         percentile stats:               disabled\n"), "{cpu}");
        assert!(text(ReportedWork::Events, &figures(), none).starts_with("\nGeneral statistics:\n"));
    }

    #[test]
    fn several_percentiles_have_a_line_each() {
        let several = text(ReportedWork::Events, &figures(), &settings(&["--percentile=5,50,99.9,100"]));
        assert!(
            several.contains(
                "          5th percentile:                        0.05\n         50th percentile:                        0.50\n\
                 \x20       99.9th percentile:                       1.00\n        100th percentile:                        1.00\n"
            ),
            "{several}"
        );
    }

    #[test]
    fn the_main_branch_says_throughput() {
        let text = text(ReportedWork::Events, &figures(), &settings(&["--compat=1.1"]));
        assert!(
            text.starts_with(
                "\nThroughput:\n    events/s (eps):                      500.0000\n    \
                 time elapsed:                        2.0000s\n    total number of events:              1000\n\nLatency"
            ),
            "{text}"
        );
    }

    #[test]
    fn dropped_events_are_told_and_unknown_fairness_is_not() {
        let figures = Figures { unfinished: 2, fairness: None, ..figures() };
        let text = text(ReportedWork::Cpu, &figures, &settings(&[]));
        assert!(
            text.contains(
                " 500.00\n\nNumber of unfinished transactions on forced shutdown: 2\n\nGeneral statistics:\n"
            ),
            "{text}"
        );
        assert!(!text.contains("fairness"));
    }
}
