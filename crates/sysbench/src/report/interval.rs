//! Lines of progress.

use super::ReportedWork;
use super::figures::Figures;
use super::percentile;
use crate::options::settings::Settings;

/// One line for an interval. If the run has a rate, a second line shows how many events wait.
pub(super) fn lines(subject: ReportedWork, figures: &Figures, settings: &Settings) -> String {
    let is_whole = settings.interval_seconds.is_none_or(|seconds| seconds.fract() == 0.0);
    let at = format!("[ {:.*}s ]", if is_whole { 0 } else { 2 }, figures.elapsed_seconds);
    let threads = figures.threads;
    let rate = |count| figures.per_second(count);
    let counts = &figures.counts;
    let latency = latencies(figures, &settings.percentiles);
    let line = match subject {
        ReportedWork::Database => format!(
            "{at} thds: {threads} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) {latency} err/s: {:.2} \
             reconn/s: {:.2}\n",
            rate(counts.events),
            rate(counts.queries()),
            rate(counts.reads),
            rate(counts.writes),
            rate(counts.others),
            rate(counts.ignored_errors()),
            rate(counts.reconnects),
        ),
        ReportedWork::Cpu | ReportedWork::Events => {
            format!("{at} thds: {threads} eps: {:.2} {latency}\n", rate(counts.events))
        }
    };
    if settings.rate.is_none() {
        return line;
    }
    let comma = if subject == ReportedWork::Database { "," } else { "" };
    format!("{line}{at} queue length: {}{comma} concurrency: {}\n", figures.backlog, figures.running)
}

fn latencies(figures: &Figures, percentiles: &[f64]) -> String {
    let values: Vec<String> =
        percentiles.iter().map(|percentile| format!("{:.2}", figures.percentile_ms(*percentile))).collect();
    let values = if values.is_empty() { "0.00".to_owned() } else { values.join("/") };
    format!("lat (ms,{}): {values}", percentile::names(percentiles))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::figures::testing::figures;
    use super::*;
    use crate::options::Arguments;

    fn lines_of(subject: ReportedWork, arguments: &[&str]) -> String {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        lines(subject, &figures(), &Settings::of(&Arguments::parse(&arguments).unwrap().values).unwrap())
    }

    #[test]
    fn a_database_is_told_by_its_queries() {
        assert_eq!(
            lines_of(ReportedWork::Database, &[]),
            "[ 2s ] thds: 4 tps: 500.00 qps: 10000.00 (r/w/o: 7000.00/2000.00/1000.00) lat (ms,95%): 0.95 \
             err/s: 1.50 reconn/s: 0.50\n"
        );
    }

    #[test]
    fn a_rate_adds_what_waits() {
        let two = lines_of(ReportedWork::Database, &["--rate=5"]);
        assert_eq!(two.lines().nth(1), Some("[ 2s ] queue length: 7, concurrency: 3"));
        assert_eq!(
            lines_of(ReportedWork::Cpu, &["--rate=5"]),
            "[ 2s ] thds: 4 eps: 500.00 lat (ms,95%): 0.95\n[ 2s ] queue length: 7 concurrency: 3\n"
        );
    }

    #[test]
    fn several_percentiles_stand_side_by_side() {
        let line = lines_of(ReportedWork::Events, &["--percentile=50,99.9"]);
        assert_eq!(line, "[ 2s ] thds: 4 eps: 500.00 lat (ms,50%/99.9%): 0.50/1.00\n");
        let none = lines_of(ReportedWork::Events, &["--percentile=0"]);
        assert_eq!(none, "[ 2s ] thds: 4 eps: 500.00 lat (ms,0%): 0.00\n");
    }

    #[test]
    fn parts_of_a_second_are_told_where_intervals_are() {
        let line = lines_of(ReportedWork::Events, &["--report-interval=0.5"]);
        assert_eq!(line, "[ 2.00s ] thds: 4 eps: 500.00 lat (ms,95%): 0.95\n");
    }
}
