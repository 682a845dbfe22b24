//! Connections that join over time. All are open from the start, and each begins its events at its own time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::{Frame, Job, Join, Order, Scheduler, run_ordered_job};
use dyno_testing::dyno_test;

use super::slices::sleeping;
use crate::SYSTEMS;
use crate::bench::{job, run};

const CONNECTIONS: u32 = 6;
const TIMES: [(f64, u32); 2] = [(0.4, 2), (0.9, CONNECTIONS)];
/// Time limit for all connections to join, even on a slow host.
const PATIENCE: Duration = Duration::from_secs(60);

/// Each event records the number of its connection.
const EVENT: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('INSERT INTO joined VALUES (' .. sysbench.tid .. ')') end
";

fn joining(server: &Server, source: &str, scheduler: Scheduler) -> Job {
    let joins = TIMES.map(|(at_seconds, connections)| Join { at_seconds, connections });
    Job {
        connections: CONNECTIONS,
        scheduler,
        joins: joins.to_vec(),
        ..job(server, "joining", source, "run")
    }
}

/// The numbers of the connections that have run an event.
fn seen(server: &Server) -> Vec<i64> {
    let found =
        server.query("SELECT DISTINCT tid FROM joined ORDER BY tid").expect("the connections' numbers");
    let number = |row: &Vec<Option<String>>| row[0].as_deref().and_then(|text| text.parse().ok());
    found.rows.iter().map(|row| number(row).expect("a number")).collect()
}

/// Waits until the server has an idle session for each connection.
fn wait_for_sessions(server: &Server) {
    let began = Instant::now();
    while sleeping(server).len() != CONNECTIONS as usize {
        assert!(began.elapsed() < PATIENCE, "{:?}", sleeping(server));
    }
}

fn with_table(server: &Server, test: impl FnOnce()) {
    server.query("CREATE TABLE joined (tid INTEGER NOT NULL)").expect("a table");
    test();
    server.query("DROP TABLE joined").expect("no table");
}

/// Runs a job until all connections have joined. At every tick, checks which connections have joined.
fn watch(server: &Server, job: Job) {
    let (sender, orders) = channel();
    let stop = AtomicBool::new(false);
    let mut ordered_at = None;
    let mut ticks_before_joins = 0;
    let mut is_complete = false;
    run_ordered_job(job, &stop, &orders, &mut |frame| match frame {
        Frame::Connected(_) => {
            wait_for_sessions(server);
            assert_eq!(seen(server), [0; 0], "nothing runs before the order");
            ordered_at = Some(Instant::now());
            sender.send(Order::Measure).expect("a job that takes orders");
        }
        Frame::Tick(tick) => {
            let ordered_at = ordered_at.expect("no tick before the order");
            let seen = seen(server);
            let allowed = TIMES.iter().rev().find(|(at, _)| ordered_at.elapsed().as_secs_f64() >= *at);
            let allowed = i64::from(allowed.map_or(0, |(_, connections)| *connections));
            assert!(seen.iter().all(|tid| *tid < allowed), "{seen:?} of {allowed}");
            if tick.counts.events == 0 {
                ticks_before_joins += 1;
            }
            is_complete = seen.len() == CONNECTIONS as usize;
            if is_complete || ordered_at.elapsed() > PATIENCE {
                stop.store(true, Ordering::Relaxed);
            }
        }
        Frame::Failed { message, .. } => panic!("{message}"),
        _ => {}
    });
    assert!(is_complete, "all have joined");
    assert!(ticks_before_joins > 0, "the first stretch has no event");
}

#[dyno_test(servers(SYSTEMS))]
fn connections_join_when_their_time_has_come_and_not_before(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        with_table(server, || watch(server, joining(server, EVENT, scheduler)));
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_scripts_own_loop_joins_too(server: &mut Server) {
    let source = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function thread_run(tid)
           while ffi.C.sb_more_events(tid) do
              ffi.C.sb_event_start(tid)
              con:query('INSERT INTO joined VALUES (' .. tid .. ')')
              ffi.C.sb_event_stop(tid)
           end
        end
        function event() end
    ";
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        with_table(server, || watch(server, joining(server, source, scheduler)));
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_job_that_is_never_told_to_measure_runs_no_event(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        with_table(server, || {
            let (sender, orders) = channel();
            let mut sender = Some(sender);
            let mut frames = Vec::new();
            run_ordered_job(
                joining(server, EVENT, scheduler),
                &AtomicBool::new(false),
                &orders,
                &mut |frame| {
                    if matches!(frame, Frame::Connected(_)) {
                        sender.take();
                    }
                    frames.push(frame);
                },
            );
            assert!(
                !frames.iter().any(|frame| matches!(frame, Frame::Measuring | Frame::Tick(_))),
                "{frames:?}"
            );
            assert!(
                matches!(frames.last(), Some(Frame::Finished(total)) if total.counts.events == 0),
                "{frames:?}"
            );
            assert_eq!(seen(server), [0; 0]);
        });
    }
}

#[dyno_test(servers(SYSTEMS))]
fn a_job_that_awaits_its_begin_runs_no_event_before(server: &mut Server) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        with_table(server, || {
            let (sender, orders) = channel();
            let job = Job {
                connections: CONNECTIONS,
                scheduler,
                events: Some(1),
                awaits_begin: true,
                ..job(server, "awaiting", EVENT, "run")
            };
            let mut events = None;
            run_ordered_job(job, &AtomicBool::new(false), &orders, &mut |frame| match frame {
                Frame::Connected(_) => {
                    wait_for_sessions(server);
                    assert_eq!(seen(server), [0; 0], "nothing runs before the order");
                    sender.send(Order::Begin).expect("a job that takes orders");
                }
                Frame::Finished(total) => events = Some(total.counts.events),
                Frame::Failed { message, .. } => panic!("{message}"),
                _ => {}
            });
            assert_eq!((events, seen(server).len()), (Some(1), 1));
        });
    }
}

#[dyno_test(servers(SYSTEMS))]
fn joins_that_leave_connections_out_are_refused(server: &mut Server) {
    let mut job = joining(server, EVENT, Scheduler::Event);
    job.connections += 1;
    let failure = run(job).failure.expect("a refusal");
    assert!(failure.contains("joins must be in order of time") && failure.contains("all 7"), "{failure}");
}
