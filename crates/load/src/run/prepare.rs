//! Compiles a job's script and checks the job before any worker starts.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use dyno_script::{ScriptInfo, UniqueCounters};

use super::traffic;
use crate::protocol::frame::Frame;
use crate::protocol::job::{Job, Protocol};
use crate::schedule::arrivals::Schedule;
use crate::schedule::control::Control;
use crate::session::failure;
use crate::session::servers::Dialer;
use crate::worker::{Assignment, CommitOrder, Message, Shared, ThreadHost};

/// For SQLite: how long a statement of a command waits for a lock. An event that meets a lock is run again, but a
/// command cannot be run again.
const COMMAND_LOCK_WAIT: &str = "PRAGMA busy_timeout = 600000";

/// Compiles the script and checks the job against the script's declarations. `sink` gets the output of the script's top
/// level, even if the script is refused.
pub(crate) fn prepare(
    mut job: Job,
    sink: &mut dyn FnMut(Frame),
) -> Result<(Shared, Receiver<Message>, ScriptInfo), String> {
    if job.target.driver == Protocol::Sqlite && job.command != "run" {
        job.target.on_connect.insert(0, COMMAND_LOCK_WAIT.to_owned());
    }
    if job.reconnects() {
        let ignored = failure::ignored_through_events(job.target.driver, job.target.ignore_errors.take());
        job.target.ignore_errors = Some(ignored);
    }
    let dialer = Dialer::new(&job.target, job.tuning.start_seconds_max).map_err(|error| error.to_string())?;
    let (sender, messages) = channel();
    let (rate_share, seed) =
        (job.rate_share(job.connections), job.seed.wrapping_add(1 + u64::from(job.tids_from())));
    let schedule = job.rate.clone().map(|rate| Mutex::new(Schedule::new(rate, rate_share, seed)));
    let unique = job
        .share
        .map_or_else(UniqueCounters::default, |share| UniqueCounters::of_part(share.number, share.of));
    let control = Control::new(job.events.filter(|&events| events > 0), job.sliced);
    let mut shared = Shared {
        job,
        control,
        dialer,
        info: None,
        schedule,
        slice_schedule: Mutex::default(),
        unique,
        order: None,
        memory: crate::script_memory().map_err(|error| error.to_string())?,
        database: AtomicBool::new(false),
        messages: sender,
    };
    if let Some(replay) = shared.job.replay.clone() {
        traffic::check(&shared, &replay).map_err(|error| error.to_string())?;
        shared.order = CommitOrder::of(&replay).map_err(|error| error.to_string())?;
        shared.info = Some(ScriptInfo::default());
        return Ok((shared, messages, ScriptInfo::default()));
    }
    let info = {
        let assignment = Assignment { tids: 0..1, recorder: Arc::default(), busy_since_ns: Arc::default() };
        let mut host = ThreadHost::new(&shared, &assignment);
        let probe = shared.probe(&mut host);
        // The names of tables that the script's top level has used are sent first, even if the top level failed.
        let told: Vec<Message> = messages.try_iter().collect();
        for message in told {
            match message {
                Message::Names(words) => sink(Frame::Names { words }),
                later => shared.say(later),
            }
        }
        let probe = probe.map_err(|refused| {
            refused.printed.into_iter().for_each(|text| sink(Frame::Log { text }));
            refused.error.to_string()
        })?;
        probe.printed().iter().for_each(|text| sink(Frame::Log { text: text.clone() }));
        probe.info().clone()
    };
    crate::protocol::check::job(&shared.job, &info).map_err(|error| error.to_string())?;
    shared.info = Some(info.clone());
    Ok((shared, messages, info))
}
