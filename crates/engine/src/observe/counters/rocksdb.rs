//! Counters of MyRocks that `SHOW GLOBAL STATUS` does not have.

use super::depth::Depth;
use super::name::CounterKind;
use super::query::{Layout, Query};

pub(super) fn queries() -> Vec<Query> {
    let full = |source, keys, sql, kind_of| Query::new(source, Depth::Full, sql, Layout::Rows(keys), kind_of);
    let gauge = |_: &str, _: Option<&str>| Some(CounterKind::Gauge);
    vec![
        full("rocksdb_cfstats", 2, "SELECT * FROM information_schema.ROCKSDB_CFSTATS", gauge),
        full("rocksdb_dbstats", 1, "SELECT * FROM information_schema.ROCKSDB_DBSTATS", gauge),
        // Sizes and compactions of each level. The columns are column family, level, name of the counter, and value.
        full(
            "rocksdb_compaction_stats",
            3,
            "SELECT * FROM information_schema.ROCKSDB_COMPACTION_STATS",
            level,
        ),
        // All counters of this table are 0 unless rocksdb_perf_context_level is raised.
        full(
            "rocksdb_perf_context_global",
            1,
            "SELECT * FROM information_schema.ROCKSDB_PERF_CONTEXT_GLOBAL",
            work,
        ),
    ]
}

/// Returns the kind of a counter that describes one level of the LSM tree. The counters in `SUMS` accumulate from the
/// server's start. The others are gauges or means.
fn level(name: &str, _: Option<&str>) -> Option<CounterKind> {
    const SUMS: [&str; 13] = [
        "CompCount",
        "CompMergeCPU",
        "CompSec",
        "KeyDrop",
        "KeyIn",
        "MovedGB",
        "RblobGB",
        "ReadGB",
        "RnGB",
        "Rnp1GB",
        "WblobGB",
        "WnewGB",
        "WriteGB",
    ];
    let number = name.rsplit('/').next()?;
    let is_sum = SUMS.contains(&number);
    Some(if is_sum { CounterKind::Counter } else { CounterKind::Gauge })
}

fn work(name: &str, _: Option<&str>) -> Option<CounterKind> {
    // `IO_THREAD_POOL_ID` is a thread id, not an amount.
    (name != "IO_THREAD_POOL_ID").then_some(CounterKind::Counter)
}
