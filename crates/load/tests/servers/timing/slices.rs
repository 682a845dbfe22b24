//! Slices: events run only after an order, and count in the right part of the slice.

use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Rate, Scheduler, SliceOrder};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{job, run, run_sliced};

const ONE_QUERY: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end
";

fn order(lead_seconds: f64, seconds: f64) -> SliceOrder {
    SliceOrder { lead_seconds, seconds, bin_seconds: None, rate: None }
}

fn schedulers(server: &Server, source: &str) -> [dyno_load::Job; 2] {
    [Scheduler::Event, Scheduler::Thread].map(|scheduler| {
        let mut job = job(server, "sliced", source, "run");
        (job.connections, job.scheduler) = (4, scheduler);
        job
    })
}

#[dyno_test(servers(SYSTEMS))]
fn between_slices_connections_stay_and_nothing_runs(server: &mut Server) {
    for job in schedulers(server, ONE_QUERY) {
        let mut sessions = Vec::new();
        let story = run_sliced(job, &[order(0.0, 0.3); 3], || sessions.push(resting(server)));
        assert_eq!(story.failure, None);
        assert_eq!(story.slices.len(), 3);
        assert!(sessions.iter().all(|seen| *seen == sessions[0]), "{sessions:?}");
        assert_eq!(sessions[0].len(), 4, "{sessions:?}");
        assert!(story.slices.iter().all(|slice| slice.counts.events > 0), "{:?}", story.slices);
    }
}

/// Waits until four sessions are idle in ten consecutive checks, and returns them. A server marks a session as idle
/// after it has sent the answer, so a session may still be busy when its client has the answer. Each check has a
/// session of its own, which the server may show as idle until the session has ended.
fn resting(server: &Server) -> Vec<String> {
    let began = Instant::now();
    loop {
        let mut idle = sleeping(server);
        for _ in 1..10 {
            let seen = sleeping(server);
            idle.retain(|session| seen.contains(session));
        }
        if idle.len() == 4 {
            return idle;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{idle:?}");
    }
}

/// The numbers of the idle sessions. The session that asks is not among them.
pub(crate) fn sleeping(server: &Server) -> Vec<String> {
    let sql = if server.access().engine == "postgres" {
        "SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND backend_type = 'client backend' ORDER BY pid"
    } else {
        "SELECT id FROM information_schema.processlist WHERE command = 'Sleep' ORDER BY id"
    };
    let found = server.query(sql).expect("a list of sessions");
    found.rows.into_iter().map(|row| format!("{:?}", row[0])).collect()
}

#[dyno_test(servers(SYSTEMS))]
fn a_slice_counts_what_ended_in_its_time(server: &mut Server) {
    for job in schedulers(server, ONE_QUERY) {
        let orders = [SliceOrder { bin_seconds: Some(0.01), ..order(0.3, 0.3) }, order(0.0, 0.3)];
        let story = run_sliced(job, &orders, || ());
        let [first, second] = &story.slices[..] else { panic!("{:?}", story.slices) };
        for slice in [first, second] {
            assert!(slice.seconds >= 0.3, "every connection is busy until the end: {}", slice.seconds);
            // An event is one query. The query's answer may come just before the end of the lead, and the event may end
            // just after the end of the lead.
            assert!(slice.counts.queries().abs_diff(slice.counts.events) <= 4, "{:?}", slice.counts);
            // Latencies belong to events that began in the slice's measured time. Events that began earlier are counted
            // by the share of their time that lies in the measured time, without a latency.
            let latencies = slice.latency.histogram().len();
            let early = slice.counts.events - latencies;
            assert!(early <= 4, "{latencies} {:?}", slice.counts);
            assert!(
                (latencies as f64..=slice.counts.events as f64).contains(&slice.event_shares),
                "{slice:?}"
            );
        }
        assert!(
            (second.event_shares - second.counts.events as f64).abs() < 1e-9,
            "no lead, no shares: {second:?}"
        );
        assert!(first.counts_whole.events > first.counts.events, "the lead is in the whole: {first:?}");
        assert_eq!(first.bins.iter().map(|bin| u64::from(*bin)).sum::<u64>(), first.counts_whole.queries());
        assert!(first.bins.len() >= 59, "bins are of the lead too: {:?}", first.bins);
        assert!(second.bins.is_empty() && second.began_us > first.began_us + 300_000);
        assert!(first.usage.user_us + first.usage.system_us > 0);
        let total = story.total.expect("a total");
        assert_eq!(total.counts.events, first.counts.events + second.counts.events);
    }
}

#[dyno_test(servers(SYSTEMS))]
fn an_event_that_goes_on_for_long_after_its_slice_is_part_of_it(server: &mut Server) {
    let sleep =
        if server.access().engine == "postgres" { "SELECT pg_sleep(0.5)" } else { "SELECT SLEEP(0.5)" };
    let source = format!(
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('{sleep}') end"
    );
    for job in schedulers(server, &source) {
        let story = run_sliced(job, &[order(0.0, 0.1)], || ());
        let [slice] = &story.slices[..] else { panic!("{:?}", story.slices) };
        assert_eq!(slice.counts.events, 4);
        assert!(slice.seconds >= 0.499, "{}", slice.seconds);
        assert!(slice.latency.histogram().min() >= 499_000, "{}", slice.latency.histogram().min());
    }
    // An event takes 0.5 s. Its first 0.1 s come before the measured time, and do not count.
    for job in schedulers(server, &source) {
        let story = run_sliced(job, &[order(0.1, 0.1)], || ());
        let [slice] = &story.slices[..] else { panic!("{:?}", story.slices) };
        assert!(slice.seconds >= 0.399 && slice.latency.histogram().is_empty(), "{slice:?}");
        assert!((3.19..4.0).contains(&slice.event_shares), "{}", slice.event_shares);
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_scripts_own_loop_rests_between_slices(server: &mut Server) {
    let source = "
        function thread_run(tid)
           local con = sysbench.sql.driver():connect()
           while ffi.C.sb_more_events(tid) do
              ffi.C.sb_event_start(tid)
              con:query('SELECT 1')
              ffi.C.sb_event_stop(tid)
           end
        end
        function event() end
    ";
    for job in schedulers(server, source) {
        // The script connects in the first slice, which is therefore not checked.
        let story = run_sliced(job, &[order(0.0, 0.3); 3], || ());
        assert_eq!(story.failure, None);
        assert_eq!(story.slices.len(), 3);
        for slice in &story.slices[1..] {
            assert!(slice.counts.events > 4, "more than one of each connection: {slice:?}");
            assert!(slice.counts.queries().abs_diff(slice.counts.events) <= 4, "{:?}", slice.counts);
        }
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_job_at_a_rate_cannot_be_sliced(server: &mut Server) {
    let mut job = job(server, "sliced", ONE_QUERY, "run");
    job.sliced = true;
    job.rate = Some(Rate::steady(100.0));
    let failure = run(job).failure.expect("a refusal");
    assert!(failure.contains("a job in slices"), "{failure}");
}

#[dyno_test(servers(SYSTEMS))]
fn a_slice_at_a_rate_counts_what_became_due_in_its_time(server: &mut Server) {
    for mut job in schedulers(server, ONE_QUERY) {
        job.paced_slices = true;
        let at = |rate| SliceOrder { rate, ..order(0.2, 1.0) };
        let story = run_sliced(job, &[at(Some(200.0)), at(None), at(Some(50.0))], || ());
        let [first, closed, last] = &story.slices[..] else {
            panic!("{:?} {:?}", story.failure, story.slices)
        };
        for (slice, rate) in [(first, 200.0), (last, 50.0_f64)] {
            // The allowed difference is six standard deviations of a Poisson number.
            let due = (slice.latency.histogram().len() + slice.waiting.histogram().len()) as f64;
            assert!((due - rate).abs() < 6.0 * rate.sqrt(), "{due} of {rate}");
            assert!((slice.seconds - 1.0).abs() < 1e-9, "{slice:?}");
            assert!(
                slice.counts_whole.events > slice.latency.histogram().len(),
                "the lead is at the rate too"
            );
        }
        assert!(closed.counts.events > 0, "a closed loop goes on: {:?}", closed.counts);
        assert_eq!((closed.backlog, closed.waiting.histogram().len()), (0, 0));
    }
}

/// 2,000 events a second are due, but 4 connections whose events take 0.02 s or more can carry only 200.
#[dyno_test(servers(SYSTEMS))]
fn what_a_slice_at_too_high_a_rate_leaves_never_begins(server: &mut Server) {
    let sleep =
        if server.access().engine == "postgres" { "SELECT pg_sleep(0.02)" } else { "SELECT SLEEP(0.02)" };
    let source = format!(
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('{sleep}') end"
    );
    for mut job in schedulers(server, &source) {
        job.paced_slices = true;
        let at = |rate| SliceOrder { rate: Some(rate), ..order(0.1, 0.5) };
        let story = run_sliced(job, &[at(2_000.0), at(20.0)], || ());
        let [over, after] = &story.slices[..] else { panic!("{:?} {:?}", story.failure, story.slices) };
        assert!(over.counts_whole.events <= 124, "{:?}", over.counts_whole);
        assert!(over.backlog > 900 && over.waiting.histogram().len() > 700, "{over:?}");
        assert!(over.waiting.histogram().max() <= 501_000, "{}", over.waiting.histogram().max());
        assert!(after.counts_whole.events < 60, "what waited is gone: {:?}", after.counts_whole);
    }
}
