//! Server-sent events: the state of the run, sent in each second in which it changed.
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>)

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dyno_store::{RunState, Store};
use serde::Serialize;

use crate::live::{self, Live};

const PERIOD: Duration = Duration::from_secs(1);
/// Seconds without a change after which a line is sent anyway, to detect readers that are gone.
const SILENCE_MAX: u32 = 15;

/// The state that is sent to a listener.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Now {
    /// Id of the current run, if any.
    pub(crate) run: Option<i64>,
    /// Number of its trials in the results file.
    pub(crate) committed: u64,
    pub(crate) live: Option<Live>,
}

/// The current state. If the file is missing or unreadable, it is empty.
pub(crate) fn now(results: &Path) -> Now {
    let runs = Store::open_read_only(results).and_then(|store| store.runs()).unwrap_or_default();
    let Some(run) = runs.into_iter().rev().find(|run| run.state == RunState::Running) else {
        return Now::default();
    };
    Now {
        run: Some(run.id.0),
        committed: run.completed_trials + run.failed_trials,
        live: live::read(results),
    }
}

/// Sends events to a listener until it goes away or the server stops.
pub(crate) fn stream(mut to: impl Write, results: &Path, stop: &AtomicBool) -> io::Result<()> {
    to.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
    )?;
    let (mut told, mut silence) = (None, 0);
    while !stop.load(Ordering::Relaxed) {
        let now = now(results);
        if told.as_ref() != Some(&now) {
            write!(to, "data: {}\n\n", serde_json::to_string(&now)?)?;
            (told, silence) = (Some(now), 0);
        } else if silence == SILENCE_MAX {
            to.write_all(b": still here\n\n")?;
            silence = 0;
        }
        to.flush()?;
        silence += 1;
        thread::sleep(PERIOD);
    }
    Ok(())
}
