//! Helpers of these tests: a job on a server, and its outcome.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use dyno_engine::Server;
use dyno_load::{
    Address, Frame, Job, Order, Protocol, Script, Slice, SliceOrder, Target, Tick, Total, builtin_workload,
    run_job, run_ordered_job,
};

/// A job of one connection without a time limit, which runs a script's text on a server.
pub(crate) fn job(server: &Server, name: &str, source: &str, command: &str) -> Job {
    job_on(target(server), name, source, command)
}

/// The target for a server, at its unix socket.
pub(crate) fn target(server: &Server) -> Target {
    let access = server.access();
    let driver = if access.engine == "postgres" { Protocol::Pgsql } else { Protocol::Mysql };
    Target {
        user: access.user.clone(),
        password: access.password.clone(),
        database: dyno_engine::DATABASE.to_owned(),
        ..Target::new(driver, vec![address(server)])
    }
}

/// Like [`job`], but for any database.
pub(crate) fn job_on(target: Target, name: &str, source: &str, command: &str) -> Job {
    let script = Script { name: name.to_owned(), source: source.to_owned(), search_path: Vec::new() };
    Job { seed: 7, tick_seconds: 0.1, ..Job::new(target, script, command) }
}

/// Like [`job`], but with a built-in workload.
pub(crate) fn builtin(server: &Server, name: &str, command: &str) -> Job {
    job(server, name, builtin_workload(name).expect("a built-in workload"), command)
}

fn address(server: &Server) -> Address {
    Address::Unix(server.access().socket.clone())
}

/// A job that uses the server's loopback port instead of its socket.
pub(crate) fn over_tcp(mut job: Job, server: &Server) -> Job {
    let port = server.access().port;
    job.target.addresses = vec![Address::Tcp { host: dyno_engine::HOST.to_owned(), port }];
    job
}

pub(crate) fn with_options(mut job: Job, options: &[(&str, &str)]) -> Job {
    for (name, value) in options {
        job.options.insert((*name).to_owned(), (*value).to_owned());
    }
    job
}

/// What the frames of a job contain.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) ticks: Vec<Tick>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) printed: Vec<String>,
    pub(crate) method: Option<String>,
    pub(crate) total: Option<Total>,
    pub(crate) failure: Option<String>,
}

impl Story {
    fn go_on(&mut self, frame: Frame) {
        match frame {
            Frame::Connected(connected) => self.method = Some(connected.method),
            Frame::Tick(tick) => self.ticks.push(tick),
            Frame::Slice(slice) => self.slices.push(slice),
            Frame::Log { text } => self.printed.push(text),
            Frame::Finished(total) => self.total = Some(total),
            Frame::Failed { message, total, .. } => (self.failure, self.total) = (Some(message), total),
            Frame::Measuring | Frame::Reached { .. } | Frame::Names { .. } => {}
        }
    }

    /// The total of a job that succeeded.
    pub(crate) fn success(self) -> Total {
        assert_eq!(self.failure, None);
        self.total.expect("a total")
    }
}

pub(crate) fn run(job: Job) -> Story {
    let mut story = Story::default();
    run_job(job, &AtomicBool::new(false), &mut |frame| story.go_on(frame));
    story
}

/// Runs a job in slices. Between two slices, when no event is in flight, calls `between`.
pub(crate) fn run_sliced(mut job: Job, slices: &[SliceOrder], mut between: impl FnMut()) -> Story {
    job.sliced = true;
    let (sender, orders) = channel();
    let mut next = slices.iter();
    let mut sender = Some(sender);
    let mut order = move || match next.next() {
        Some(slice) => sender.as_ref().is_some_and(|sender| sender.send(Order::Slice(*slice)).is_ok()),
        None => sender.take().is_none(),
    };
    let mut story = Story::default();
    run_ordered_job(job, &AtomicBool::new(false), &orders, &mut |frame| {
        let rests = matches!(frame, Frame::Slice(_) | Frame::Measuring);
        story.go_on(frame);
        if rests {
            between();
            order();
        }
    });
    story
}

/// Runs a job until a tick shows that at least one event has ended.
pub(crate) fn run_until_it_works(job: Job) -> Story {
    let stop = AtomicBool::new(false);
    run_and_once_it_works(job, &stop, || stop.store(true, Ordering::Relaxed))
}

/// Runs a job, and calls `then` once a tick shows that at least one event has ended.
pub(crate) fn run_and_once_it_works(mut job: Job, stop: &AtomicBool, then: impl FnOnce()) -> Story {
    job.tick_seconds = 0.1;
    let (mut story, mut then) = (Story::default(), Some(then));
    run_job(job, stop, &mut |frame| {
        story.go_on(frame);
        if story.ticks.iter().any(|tick| tick.counts.events > 0)
            && let Some(then) = then.take()
        {
            then();
        }
    });
    story
}
