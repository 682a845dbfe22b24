//! Runs functions instead of scripts as events, each on a thread of its own. Arrivals and recording are the same as
//! for scripts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::measure::recorder::{Batch, Recorder};
use crate::measure::reporter::Reporter;
use crate::measure::unfinished::Unfinished;
use crate::protocol::frame::{Connected, Frame};
use crate::schedule::arrivals::{Rate, Schedule};
use crate::schedule::control::{Control, Phase};
use crate::worker::{PANICKED, WorkerReport};

/// Time between checks for a stop.
const POLL: Duration = Duration::from_millis(5);
/// A thread hands over its batch of records after this number of events, or after this time.
const BATCH_EVENTS: u32 = 1024;
const BATCH_NS: u64 = 10_000_000;

pub type Event = Box<dyn FnMut() + Send>;

/// Duration and rate of the work.
#[derive(Clone, Debug)]
pub struct Work {
    /// Length of the warm-up in seconds. Results do not include the warm-up.
    pub warmup_seconds: f64,
    /// Measured time in seconds; `None` for no limit.
    pub seconds: Option<f64>,
    /// Number of events; `None` for no limit.
    pub events: Option<u64>,
    /// Rate of an open loop, in events per second over all threads.
    pub rate: Option<Rate>,
    /// Seed of the arrivals.
    pub seed: u64,
    pub tick_seconds: f64,
    /// Checkpoints: times in seconds since measuring began. The tick that reaches a checkpoint has a
    /// [`checkpoint`](crate::Tick::checkpoint).
    pub checkpoints_seconds: Vec<f64>,
}

/// State shared by the threads.
struct Shared {
    control: Control,
    schedule: Option<Mutex<Schedule>>,
    recorder: Arc<Recorder>,
    ended: AtomicU32,
}

/// Runs each function of `threads` repeatedly on a thread of its own, until the work is done or `stop` is set.
/// The last frame is [`Frame::Finished`], or [`Frame::Failed`] if a function panicked.
pub fn run_work(work: &Work, threads: Vec<Event>, stop: &AtomicBool, sink: &mut dyn FnMut(Frame)) {
    let schedule = work.rate.clone().map(|rate| Mutex::new(Schedule::new(rate, 1.0, work.seed)));
    let control = Control::new(work.events, false);
    let shared = Shared { control, schedule, recorder: Arc::default(), ended: AtomicU32::new(0) };
    let count = threads.len() as u32;
    let (reporter, reports) = std::thread::scope(|scope| {
        let carried: Vec<_> = (0..)
            .zip(threads)
            .map(|(number, event)| {
                scope.spawn({
                    let shared = &shared;
                    move || {
                        let report = catch_unwind(AssertUnwindSafe(|| carry(shared, number, event)));
                        shared.ended.fetch_add(1, Ordering::Release);
                        report
                    }
                })
            })
            .collect();
        sink(Frame::Connected(Connected {
            connections: count,
            threads: count,
            method: "a thread an event".to_owned(),
            database: false,
        }));
        let reporter = Conductor { work, shared: &shared, threads: count, stop, sink }.measure();
        let reports: Vec<_> = carried.into_iter().filter_map(|thread| thread.join().ok()?.ok()).collect();
        (reporter, reports)
    });
    let left = shared.schedule.as_ref().map(|schedule| {
        let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
        Unfinished::of_schedule(&mut schedule, &shared.control)
    });
    let total = reporter.total(&reports, 0, &left.unwrap_or_default());
    sink(if reports.len() as u32 == count {
        Frame::Finished(total)
    } else {
        Frame::Failed { message: PANICKED.to_owned(), total: Some(total), is_whole: false }
    });
}

/// The thread that sends frames while the other threads work.
struct Conductor<'a> {
    work: &'a Work,
    shared: &'a Shared,
    threads: u32,
    stop: &'a AtomicBool,
    sink: &'a mut dyn FnMut(Frame),
}

impl Conductor<'_> {
    fn measure(mut self) -> Reporter {
        let control = &self.shared.control;
        let warmup = self.work.warmup_seconds > 0.0;
        control.count_down(!warmup);
        control.advance(Phase::Running);
        let mut reporter = Reporter::new(
            vec![Arc::clone(&self.shared.recorder)],
            self.threads,
            &self.work.checkpoints_seconds,
            warmup,
            control.epoch(),
        );
        if self.shared.schedule.is_some() {
            reporter = reporter.paced(true);
        }
        if warmup {
            self.tick_until(&mut reporter, Some(self.work.warmup_seconds));
            control.count_down(true);
            (self.sink)(Frame::Tick(reporter.tick()));
        }
        reporter.begin_measuring();
        (self.sink)(Frame::Measuring);
        self.tick_until(&mut reporter, self.work.seconds);
        control.advance(Phase::Stopping);
        while self.working() {
            std::thread::sleep(POLL);
        }
        (self.sink)(Frame::Tick(reporter.tick()));
        reporter
    }

    /// Sends ticks for `seconds`, or until the threads end or the user stops the work. Does not send the tick of the
    /// last, incomplete interval: the caller does.
    fn tick_until(&mut self, reporter: &mut Reporter, seconds: Option<f64>) {
        let length = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let tick = length(self.work.tick_seconds.max(0.01));
        let began = Instant::now();
        let end = seconds.and_then(|seconds| began.checked_add(length(seconds)));
        let mut next_tick = began + tick;
        loop {
            let until = end.map_or(next_tick, |end| end.min(next_tick));
            while Instant::now() < until && self.going() {
                std::thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
            }
            if !self.going() || end.is_some_and(|end| Instant::now() >= end) {
                return;
            }
            (self.sink)(Frame::Tick(reporter.tick()));
            next_tick += tick;
        }
    }

    fn working(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire) < self.threads
    }

    fn going(&self) -> bool {
        self.working() && !self.stop.load(Ordering::Relaxed)
    }
}

/// Runs one thread's function again and again until the work is done.
fn carry(shared: &Shared, number: u32, mut event: Event) -> WorkerReport {
    shared.control.wait_for_start();
    let epoch = shared.control.epoch();
    let now_ns = || epoch.elapsed().as_nanos() as u64;
    let mut batch = Batch::default();
    let (mut kept, mut flushed_ns) = (0, 0);
    shared.recorder.add_running(1);
    while let Some(due_ns) = next_due_ns(shared, &now_ns) {
        event();
        let ended_ns = now_ns();
        let latency_ns = ended_ns.saturating_sub(due_ns);
        batch.event(number, latency_ns);
        kept += 1;
        if kept == BATCH_EVENTS || ended_ns - flushed_ns > BATCH_NS {
            batch.flush(&shared.recorder);
            (kept, flushed_ns) = (0, ended_ns);
        }
    }
    batch.flush(&shared.recorder);
    shared.recorder.add_running(-1);
    WorkerReport::default()
}

/// Waits until the next event may begin. Returns when the event was due; `None` if there are no more events.
fn next_due_ns(shared: &Shared, now_ns: &impl Fn() -> u64) -> Option<u64> {
    let Some(schedule) = &shared.schedule else {
        return shared.control.take_event().then(now_ns);
    };
    while shared.control.has_events() {
        let now_ns = now_ns();
        let (due_ns, next_ns) = {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            let due_ns = schedule.take_due(now_ns);
            shared.recorder.count_due(&mut schedule, now_ns);
            (due_ns, schedule.next_ns())
        };
        if due_ns.is_some() {
            return due_ns.filter(|_| shared.control.take_event());
        }
        let wait = next_ns.map_or(POLL, |at_ns| Duration::from_nanos(at_ns.saturating_sub(now_ns)));
        std::thread::sleep(wait.min(POLL));
    }
    if shared.control.is_spent() {
        // No further event may begin, so due events are not a backlog.
        shared.recorder.set_backlog(0);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::protocol::frame::Total;

    fn run(work: &Work, threads: u32) -> (Total, u64) {
        let calls = Arc::new(AtomicU64::new(0));
        let event = || -> Event {
            let calls = Arc::clone(&calls);
            Box::new(move || {
                calls.fetch_add(1, Ordering::Relaxed);
            })
        };
        let mut total = None;
        run_work(work, (0..threads).map(|_| event()).collect(), &AtomicBool::new(false), &mut |frame| {
            if let Frame::Finished(finished) = frame {
                total = Some(finished);
            }
        });
        (total.expect("the work finishes"), calls.load(Ordering::Relaxed))
    }

    fn work() -> Work {
        Work {
            warmup_seconds: 0.0,
            seconds: None,
            events: None,
            rate: None,
            seed: 1,
            tick_seconds: 0.05,
            checkpoints_seconds: Vec::new(),
        }
    }

    #[test]
    fn a_number_of_events_is_met_exactly() {
        let (total, calls) = run(&Work { events: Some(5000), ..work() }, 3);
        assert_eq!((total.counts.events, calls), (5000, 5000));
        assert!((total.fairness.events_avg * 3.0 - 5000.0).abs() < 1e-6);
        assert_eq!(total.latency.histogram().len(), 5000);
    }

    #[test]
    fn the_time_ends_the_work_and_the_warm_up_does_not_count() {
        let (total, calls) = run(&Work { warmup_seconds: 0.05, seconds: Some(0.1), ..work() }, 2);
        assert!(total.seconds >= 0.1, "{}", total.seconds);
        assert!(total.counts.events > 0 && total.counts.events < calls);
    }

    #[test]
    fn work_that_panics_has_failed() {
        // The other worker waits, so that an event remains for the worker that panics.
        let (tell, told) = std::sync::mpsc::channel();
        let panics: Event = Box::new(move || {
            let _ = tell.send(());
            panic!("on purpose")
        });
        let waits: Event = Box::new(move || {
            let _ = told.recv();
        });
        let mut last = None;
        run_work(
            &Work { events: Some(5), ..work() },
            vec![panics, waits],
            &AtomicBool::new(false),
            &mut |frame| {
                last = Some(frame);
            },
        );
        assert!(matches!(last, Some(Frame::Failed { .. })), "{last:?}");
    }

    #[test]
    fn a_rate_spaces_the_events() {
        let (total, calls) = run(&Work { seconds: Some(1.0), rate: Some(Rate::steady(200.0)), ..work() }, 2);
        assert_eq!(total.counts.events, calls);
        assert!((100..400).contains(&calls), "{calls}");
    }
}
