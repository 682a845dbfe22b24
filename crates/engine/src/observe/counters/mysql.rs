//! The queries for the counters of MySQL and MariaDB.

use super::depth::Depth;
use super::gauges::{innodb_metric, status};
use super::name::CounterKind;
use super::query::{Layout, Query};
use super::rocksdb;

/// Queries for all releases. A server refuses queries that are for other releases.
pub(super) fn queries() -> Vec<Query> {
    let light = |source, sql| Query::new(source, Depth::Light, sql, Layout::Rows(1), by_name(source));
    let waits = |source, sql| Query::new(source, Depth::Full, sql, Layout::Columns(1), summary);
    let mut queries = vec![
        light("global_status", "SHOW GLOBAL STATUS"),
        // Of the next two queries, the first is for MySQL from 5.6 and MariaDB up to 10.4, the second is for MariaDB
        // from 10.5.
        light(
            "innodb_metrics",
            "SELECT NAME, `COUNT`, TYPE FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled'",
        ),
        light(
            "innodb_metrics",
            "SELECT NAME, `COUNT`, TYPE FROM information_schema.INNODB_METRICS WHERE ENABLED = 1",
        ),
        // The next two queries return no rows if the performance schema or these instruments are off. Times are in
        // picoseconds.
        waits(
            "events_waits_summary_global_by_event_name",
            "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT \
             FROM performance_schema.events_waits_summary_global_by_event_name \
             WHERE EVENT_NAME LIKE 'wait/synch/%' AND COUNT_STAR > 0",
        ),
        waits(
            "file_summary_by_event_name",
            "SELECT * FROM performance_schema.file_summary_by_event_name WHERE COUNT_READ + COUNT_WRITE > 0",
        ),
    ];
    queries.extend(rocksdb::queries());
    queries
}

fn by_name(source: &str) -> super::query::KindOf {
    if source == "global_status" {
        |name, _| Some(status(name))
    } else {
        |name, says| Some(innodb_metric(name, says))
    }
}

/// The kind of a column. Skips minimum, mean and maximum: they cover all time since the server's start, so they say
/// nothing about an interval.
fn summary(column: &str, _: Option<&str>) -> Option<CounterKind> {
    let is_of_all_time = ["MIN_", "AVG_", "MAX_"].iter().any(|prefix| column.starts_with(prefix));
    (!is_of_all_time).then_some(CounterKind::Counter)
}
