//! Stalls: if a server is stopped for a while, this shows in latencies, gaps and unfinished events, even if the
//! stop is at the end of the trial.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyno_engine::Server;
use dyno_engine::testing::{go_on, pause, servers};
use dyno_load::{Frame, Job, Milestone, Rate, Scheduler, Total, run_job};
use dyno_testing::dyno_test;

use crate::SYSTEMS;
use crate::bench::job;

const ONE_QUERY: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT 1') end
";
const CONNECTIONS: u32 = 4;
/// Measured time of a job. The server is stopped after the first second of it, or later on a busy machine.
const SECONDS: f64 = 2.5;
/// If the server was stopped for less than this within the measured time, the stop does not show, and the job runs
/// again.
const STOPPED_SECONDS_MIN: f64 = 1.0;
/// If the server was not stopped for long enough in any of this many jobs, the machine counts as too busy.
const ATTEMPTS: u32 = 5;
/// How long the server stays stopped after the end of the job's time.
const HELD: Duration = Duration::from_millis(700);

/// A job whose server was stopped before the end of the job's time.
struct StoppedJob {
    total: Total,
    /// How long the server was stopped within the job's time. It is at least [`STOPPED_SECONDS_MIN`].
    stopped_seconds: f64,
}

impl StoppedJob {
    /// A lower bound in µs for the latency of an event that was in flight during the stop, and ended after it.
    fn latency_us_min(&self) -> u64 {
        ((self.stopped_seconds + HELD.as_secs_f64() - 0.2) * 1e6) as u64
    }

    /// A lower bound for the age of an event in flight during the stop, at the end of the job's time.
    fn age_seconds_min(&self) -> f64 {
        self.stopped_seconds - 0.3
    }
}

/// Runs a job whose server is stopped before the end of the job's time. The server continues after that time.
fn stopped_at_the_end(server: &Server, job: &Job, held: Duration) -> StoppedJob {
    let jobs = (0..ATTEMPTS).map(|_| stopped_once(server, job.clone(), held));
    let mut long_enough = jobs.filter(|job| job.stopped_seconds >= STOPPED_SECONDS_MIN);
    long_enough.next().expect("a server that was stopped early enough")
}

fn stopped_once(server: &Server, job: Job, held: Duration) -> StoppedJob {
    std::thread::scope(|scope| {
        let (mut began, mut seconds, mut stopped_seconds, mut total) = (Instant::now(), 0.0, None, None);
        run_job(job, &AtomicBool::new(false), &mut |frame| match frame {
            Frame::Measuring => began = Instant::now(),
            Frame::Tick(tick) => {
                seconds += tick.seconds;
                if seconds >= 1.0 && stopped_seconds.is_none() {
                    pause(server.access().pid);
                    stopped_seconds = Some(SECONDS - began.elapsed().as_secs_f64());
                }
            }
            Frame::Reached { milestone: Milestone::Ending } => {
                scope.spawn(move || go_on_after(held, server));
            }
            Frame::Finished(finished) => total = Some(finished),
            Frame::Failed { message, .. } => panic!("{message}"),
            _ => {}
        });
        StoppedJob { total: total.expect("a total"), stopped_seconds: stopped_seconds.unwrap_or_default() }
    })
}

fn go_on_after(held: Duration, server: &Server) {
    std::thread::sleep(held);
    go_on(server.access().pid);
}

fn on_both(server: &Server, check: impl Fn(Job, Scheduler)) {
    for scheduler in [Scheduler::Event, Scheduler::Thread] {
        let mut job = job(server, "one_query", ONE_QUERY, "run");
        (job.connections, job.seconds, job.scheduler) = (CONNECTIONS, Some(SECONDS), scheduler);
        check(job, scheduler);
    }
}

#[dyno_test(servers(SYSTEMS))]
fn an_event_that_ends_after_the_time_counts_with_its_latency(server: &mut Server) {
    on_both(server, |job, scheduler| {
        let stopped = stopped_at_the_end(server, &job, HELD);
        let total = &stopped.total;
        let latency = total.latency.histogram();
        assert_eq!(latency.len(), total.counts.events + u64::from(CONNECTIONS), "{scheduler:?}");
        assert!(latency.max() >= stopped.latency_us_min(), "{scheduler:?}: {} µs", latency.max());
        assert_eq!((total.censored.histogram().len(), total.unfinished), (0, 0), "{scheduler:?}");
        let gaps = total.gaps.as_ref().expect("gaps");
        assert!(
            gaps.last_seconds > stopped.age_seconds_min() && gaps.longest_seconds >= gaps.last_seconds,
            "{scheduler:?}: {gaps:?}"
        );
    });
}

#[dyno_test(servers(SYSTEMS))]
fn events_that_were_due_and_had_not_begun_count_with_their_age(server: &mut Server) {
    on_both(server, |mut job, scheduler| {
        job.rate = Some(Rate::steady(400.0));
        let stopped = stopped_at_the_end(server, &job, HELD);
        let total = &stopped.total;
        // The limit is a quarter of the events that become due while the server is stopped.
        assert!(total.backlog as f64 > 100.0 * stopped.stopped_seconds, "{scheduler:?}: {}", total.backlog);
        let ages = total.censored.histogram();
        assert_eq!(ages.len(), total.backlog, "{scheduler:?}");
        assert!(ages.max() as f64 > stopped.age_seconds_min() * 1e6, "{scheduler:?}: {} µs", ages.max());
        assert!(total.latency.histogram().max() >= stopped.latency_us_min(), "{scheduler:?}");
    });
}

#[dyno_test(servers(SYSTEMS))]
fn events_that_never_end_count_with_their_age(server: &mut Server) {
    on_both(server, |mut job, scheduler| {
        job.tuning.end_seconds_max = 0.1;
        let stopped = stopped_at_the_end(server, &job, Duration::from_secs(2));
        let total = &stopped.total;
        assert_eq!(total.unfinished, CONNECTIONS, "{scheduler:?}");
        let ages = total.censored.histogram();
        assert_eq!(ages.len(), u64::from(CONNECTIONS), "{scheduler:?}");
        assert!(ages.min() as f64 > stopped.age_seconds_min() * 1e6, "{scheduler:?}: {} µs", ages.min());
    });
}

#[dyno_test(servers(SYSTEMS))]
fn the_time_can_end_with_the_last_event_as_in_sysbench(server: &mut Server) {
    on_both(server, |mut job, scheduler| {
        job.tuning.ends_with_last_event = true;
        let stopped = stopped_at_the_end(server, &job, HELD);
        let total = &stopped.total;
        assert!(total.seconds >= SECONDS + HELD.as_secs_f64() - 0.01, "{scheduler:?}: {} s", total.seconds);
        assert_eq!(total.latency.histogram().len(), total.counts.events, "{scheduler:?}");
        assert!(total.latency.histogram().max() >= stopped.latency_us_min(), "{scheduler:?}");
    });
}

#[dyno_test(servers(SYSTEMS))]
fn a_stall_in_the_middle_is_a_gap(server: &mut Server) {
    on_both(server, |mut job, scheduler| {
        job.seconds = Some(3.0);
        let (mut seconds, mut total, mut is_stopped) = (0.0, None, false);
        std::thread::scope(|scope| {
            run_job(job, &AtomicBool::new(false), &mut |frame| match frame {
                Frame::Tick(tick) => {
                    seconds += tick.seconds;
                    if seconds >= 0.5 && !is_stopped {
                        pause(server.access().pid);
                        is_stopped = true;
                        scope.spawn(|| go_on_after(Duration::from_millis(1200), server));
                    }
                }
                Frame::Finished(finished) => total = Some(finished),
                Frame::Failed { message, .. } => panic!("{message}"),
                _ => {}
            });
        });
        let gaps = total.expect("a total").gaps.expect("gaps");
        assert!(gaps.longest_seconds >= 1.0, "{scheduler:?}: {gaps:?}");
        assert!(gaps.longest_began_seconds >= 0.3, "{scheduler:?}: {gaps:?}");
    });
}
