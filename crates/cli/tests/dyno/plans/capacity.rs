//! Searches for the highest rate within a limit of latency.

use dyno_engine::testing::with_engine;
use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended};

/// Runs a search on one system. `event` is the body of the script's event function, and `find` the plan's key of
/// the search.
fn search(engine: &str, event: &str, find: &str) -> (Bench, Ended) {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        &format!(
            "name = 'search'\ntitle = 'A search'\nbase = 's'\nrounds = 1\nclients = [4]\nseconds = 1\nwarmup_seconds = 0.1\n\
             [[system]]\nid = 's'\nengine = '{engine}'\n\
             [[step]]\nid = 'find'\ngroup = 'reads'\nworkload = './slow.lua'\noperation = 'transaction'\n\
             find = {{ {find} }}\n"
        ),
    );
    bench.write(
        "slow.lua",
        &format!(
            "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() {event} end\n"
        ),
    );
    bench.let_all_write();
    let ended = bench.dyno(&["run", "plan.toml"]);
    (bench, ended)
}

/// With 4 clients and events of 5 ms or more, at most 800 events per second are possible.
#[dyno_test(with_engine("mariadb@10.11/innodb"))]
fn a_capacity_is_found_kept_and_reported() {
    let find = "p50_ms = 100, within = 0.5, seconds_max = 300";
    let (bench, ended) = search("mariadb@10.11/innodb", "con:query('SELECT SLEEP(0.005)')", find);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let capacity: f64 = bench.value("SELECT capacity_per_second FROM trial").unwrap();
    // If the rate is too high, the backlog of events grows, and the search does not accept the rate.
    assert!(capacity > 1.0 && capacity < 960.0, "{capacity}");
    for (what, sql) in [
        (
            "the interval holds it",
            "SELECT capacity_low_per_second < capacity_per_second
             AND capacity_per_second < capacity_high_per_second FROM trial",
        ),
        (
            "well below the limit is kept",
            "SELECT avg(keeps_limit) > 0.5 FROM probe, trial t
             WHERE t.id = trial_id AND rate_per_second <= 0.7 * t.capacity_per_second",
        ),
        (
            "what four clients cannot do is not",
            "SELECT min(keeps_limit) = 0 AND max(keeps_limit AND rate_per_second > 1200) = 0 FROM probe",
        ),
        (
            "it is the throughput",
            "SELECT operations_per_second = (SELECT capacity_per_second FROM trial) FROM throughput",
        ),
        ("what probes did is no course of a rate", "SELECT count(*) = 0 FROM sample"),
        ("only probes that kept the limit are measured", "SELECT latency_p50_us <= 101000 FROM trial"),
        ("the step says its limit", "SELECT find ->> 'limit_ms' = 100 AND rate IS NULL FROM step"),
    ] {
        assert_eq!(bench.value(sql), Some(true), "{what}");
    }
    let report = bench.dyno(&["report", "--full"]).stdout;
    for words in ["event at p50 ≤ 100 ms", "Capacity: the highest rate", "probes of round 1"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains("did not keep up"), "probes violate the limit on purpose: {report}");
    assert!(bench.processes().is_empty());
}

#[dyno_test]
fn a_limit_that_no_rate_keeps_is_told() {
    let (bench, ended) = search("sqlite", "con:query('SELECT 1') ffi.C.usleep(30000)", "p50_ms = 10");
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let message: String = bench.value("SELECT message FROM trial").unwrap();
    assert!(message.starts_with("no rate keeps p50 ≤ 10 ms: p50 is "), "{message}");
    assert!(message.ends_with(" ms at 1 event/s"), "{message}");
    assert_eq!(bench.value("SELECT max(keeps_limit) = 0 AND count(*) > 1 FROM probe"), Some(true));
    assert_eq!(bench.value("SELECT capacity_per_second IS NULL FROM trial"), Some(true));
}
