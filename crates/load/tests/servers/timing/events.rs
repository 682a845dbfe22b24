//! Events: when they begin, how they are timed, and what happens when they fail.

use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Rate, Scheduler};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::{job, run, run_until_it_works};

const ONE_QUERY: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end
";

#[dyno_test(servers(SYSTEMS))]
fn events_come_at_the_rate_that_is_asked_for(server: &mut Server) {
    let mut job = job(server, "one_query", ONE_QUERY, "run");
    job.connections = 4;
    job.seconds = Some(2.0);
    job.rate = Some(Rate::steady(500.0));
    let total = run(job).success();
    // 1000 events are expected, with a standard deviation of 32.
    assert!((800..1200).contains(&total.counts.events), "{}", total.counts.events);
}

#[dyno_test(servers(SYSTEMS))]
fn waiting_for_a_connection_counts_as_latency(server: &mut Server) {
    // Each event takes 20 ms, and 100 events per second are due, so the only connection can run half of them.
    let source = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event() con:query('SELECT 1'); ffi.C.usleep(20000) end
    ";
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(server, "slow", source, "run");
        job.seconds = Some(1.5);
        job.rate = Some(Rate::steady(100.0));
        job.scheduler = scheduler;
        let total = run(job).success();
        assert!(total.backlog > 20, "{scheduler:?}: {}", total.backlog);
        let longest_us = total.latency.histogram().max();
        assert!(longest_us > 200_000, "{scheduler:?}: the last events waited for long, not {longest_us} µs");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn statements_are_timed_by_what_they_do(server: &mut Server) {
    server.query("create table timed (id int primary key)").expect("a table");
    let wait = if server.access().engine == "postgres" { "pg_sleep(0.02)" } else { "SLEEP(0.02)" };
    let source = format!(
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event()
            con:query('BEGIN') con:query('INSERT INTO timed VALUES (1)') con:query('SELECT {wait}') con:query('ROLLBACK')
         end"
    );
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(server, "timed", &source, "run");
        (job.events, job.scheduler) = (Some(5), scheduler);
        let total = run(job).success();
        let (counts, timed) = (total.counts, &total.statements);
        let timed_counts =
            [&timed.reads, &timed.writes, &timed.others].map(|latency| latency.histogram().len());
        assert_eq!(timed_counts, [counts.reads, counts.writes, counts.others], "{scheduler:?}");
        assert_eq!(timed_counts, [5, 5, 10], "{scheduler:?}");
        let reads = timed.reads.histogram();
        assert!(reads.min() >= 20_000, "{scheduler:?}: {} µs is no sleep", reads.min());
        let longest_us = total.latency.histogram().max();
        assert!(reads.max() <= longest_us, "{scheduler:?}: a part is longer than the whole");
    }
    server.query("drop table timed").expect("no table");
}

/// Two connections lock two rows in opposite orders.
const CROSSING: &str = "
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query('CREATE TABLE crossing (id INT PRIMARY KEY, n INT)')
   con:query('INSERT INTO crossing VALUES (1, 0), (2, 0)')
end
function thread_init(tid) con = sysbench.sql.driver():connect(); first, second = tid + 1, 2 - tid end
function event()
   con:query('BEGIN')
   con:query('UPDATE crossing SET n = n + 1 WHERE id = ' .. first)
   ffi.C.usleep(2000)
   con:query('UPDATE crossing SET n = n + 1 WHERE id = ' .. second)
   con:query('COMMIT')
end
";

#[dyno_test(servers(SYSTEMS))]
fn a_deadlock_is_rolled_back_and_run_again(server: &mut Server) {
    if server.access().engine == "postgres" {
        // By default, a session waits for 1 s before it looks for a deadlock. The test has dozens of deadlocks, so it
        // would take too long.
        server.query("ALTER SYSTEM SET deadlock_timeout = '20ms'").expect("a setting");
        server.query("SELECT pg_reload_conf()").expect("a reload");
    }
    run(job(server, "crossing", CROSSING, "prepare")).success();
    let mut total_events = 0;
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(server, "crossing", CROSSING, "run");
        job.connections = 2;
        job.events = Some(40);
        job.scheduler = scheduler;
        let counts = run(job).success().counts;
        assert!(counts.errors > 0, "{scheduler:?}: they never met");
        assert_eq!(counts.events, 40, "{scheduler:?}");
        total_events += counts.events;
    }
    let sum = server.query("select sum(n) from crossing").expect("a sum");
    // An event adds 1 to two rows. Failed attempts were rolled back, so the sum is twice the number of events.
    assert_eq!(sum.rows[0][0].as_deref(), Some((2 * total_events).to_string().as_str()));
}

#[dyno_test(servers(SYSTEMS))]
fn a_stop_ends_the_job_with_what_was_measured(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(server, "one_query", ONE_QUERY, "run");
        job.connections = 3;
        job.scheduler = scheduler;
        // Without a time limit, the job runs until it is stopped.
        job.seconds = None;
        let began = Instant::now();
        let story = run_until_it_works(job);
        assert!(began.elapsed() < Duration::from_secs(20), "{scheduler:?}: it never ended");
        assert!(story.success().counts.events > 0, "{scheduler:?}");
    }
}

#[dyno_test(servers(SYSTEMS))]
fn the_warm_up_is_not_part_of_the_total(server: &mut Server) {
    let mut job = job(server, "one_query", ONE_QUERY, "run");
    job.warmup_seconds = 1.0;
    job.seconds = Some(0.4);
    let story = run(job);
    let counted: u64 = story.ticks.iter().filter(|tick| !tick.warmup).map(|tick| tick.counts.events).sum();
    let warm: u64 = story.ticks.iter().filter(|tick| tick.warmup).map(|tick| tick.counts.events).sum();
    assert!(warm > 0);
    let total = story.success();
    assert_eq!(total.counts.events, counted);
    // The loop hands over its records once per iteration, after it has begun the next event of each idle connection.
    // The measured time may end between these two steps. In this case, the event that had ended and the event in flight
    // come after the last tick.
    let late = total.latency.histogram().len() - counted;
    assert!(late <= 2, "{late} events of one connection came after the last tick");
}
