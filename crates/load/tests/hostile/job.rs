//! A job on a hostile server, and its outcome.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use dyno_load::{Address, Frame, Job, Protocol, Scheduler, TlsMode, Total, run_job};
use serde_json::json;

use crate::listener::{Listener, Play};

/// A time limit that none of these jobs may reach.
const PATIENCE: Duration = Duration::from_secs(60);

/// The password, which no server may receive.
pub(crate) const PASSWORD: &str = "open sesame 7391";

const SCRIPT: &str = "
function thread_init() con = sysbench.sql.driver():connect() end
function event()
   ffi.C.usleep(50000)
   print(con:query('SELECT 1').nfields .. ' columns')
end
";

/// What the frames of a job contain.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) printed: Vec<String>,
    pub(crate) total: Option<Total>,
    pub(crate) failure: Option<String>,
}

/// Runs one event of one connection in four ways at the same time: by socket and by port, each on an event loop and
/// on a thread.
pub(crate) fn meet(driver: Protocol, tls: TlsMode, play: Play) -> Vec<Story> {
    meet_for(None, driver, tls, play)
}

/// Like [`meet`], with a time limit for the jobs.
pub(crate) fn meet_for(seconds: Option<f64>, driver: Protocol, tls: TlsMode, play: Play) -> Vec<Story> {
    let listener = Listener::start(play);
    let ways = listener
        .addresses
        .iter()
        .flat_map(|address| [Scheduler::Event, Scheduler::Thread].map(|way| (address, way)));
    let jobs = ways.map(|(address, scheduler)| {
        let mut job = Job { seconds, ..job(driver, address, scheduler) };
        job.target.tls.mode = tls;
        job
    });
    let running: Vec<_> = jobs.map(|job| thread::spawn(|| run(job))).collect();
    running.into_iter().map(|job| job.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
}

/// Checks that each of the four jobs of [`meet`] fails with one line that contains `words`.
pub(crate) fn fails(driver: Protocol, words: &str, play: Play) {
    fails_with_tls(driver, TlsMode::Disabled, words, play);
}

pub(crate) fn fails_with_tls(driver: Protocol, tls: TlsMode, words: &str, play: Play) {
    for story in meet(driver, tls, play) {
        let message = story.failure.expect("a failure");
        assert!(message.contains(words), "{driver:?}: {message}");
        assert!(!message.contains('\n'), "{driver:?}: {message}");
    }
}

/// Creates a job that runs one event on one connection to a server.
pub(crate) fn job(driver: Protocol, address: &Address, scheduler: Scheduler) -> Job {
    let job = json!({
        "target": { "driver": driver, "addresses": [address], "user": "dyno", "password": PASSWORD },
        "script": { "name": "hostile", "source": SCRIPT },
        "command": "run",
        "connections": 1,
        "scheduler": scheduler,
        "events": 1,
        "seed": 1,
        "tuning": { "start_seconds_max": 30.0, "end_seconds_max": 0.2 },
    });
    serde_json::from_value(job).expect("a job")
}

pub(crate) fn run(job: Job) -> Story {
    let (sender, frames) = channel();
    thread::spawn(move || {
        run_job(job, &AtomicBool::new(false), &mut |frame| drop(sender.send(frame)));
    });
    let mut story = Story::default();
    loop {
        match frames.recv_timeout(PATIENCE).expect("the job goes on") {
            Frame::Log { text } => story.printed.push(text),
            Frame::Finished(total) => return Story { total: Some(total), ..story },
            Frame::Failed { message, total, .. } => return Story { failure: Some(message), total, ..story },
            Frame::Connected(_)
            | Frame::Reached { .. }
            | Frame::Measuring
            | Frame::Tick(_)
            | Frame::Slice(_)
            | Frame::Names { .. } => {}
        }
    }
}
