//! `threads`: an event takes locks that all threads share, giving the CPU away while it holds one.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Built, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::report::ReportedWork;
use crate::settings::Settings;

pub(super) const TEST: Native = Native {
    name: "threads",
    summary: "how well threads give way to each other",
    options: &[
        Definition {
            name: "thread-yields",
            kind: Kind::Whole,
            default: Some("1000"),
            help: "how often an event gives the CPU away",
        },
        Definition {
            name: "thread-locks",
            kind: Kind::Whole,
            default: Some("8"),
            help: "locks that threads share",
        },
    ],
    build,
};

fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let yields = values.whole("thread-yields") as usize;
    let locks = values.whole("thread-locks") as usize;
    if locks == 0 {
        return Err(Failure::fatal("--thread-locks cannot be 0: give a number from 1 on"));
    }
    let locks: Arc<Vec<Mutex<()>>> = Arc::new((0..locks).map(|_| Mutex::new(())).collect());
    let event = || {
        let locks = Arc::clone(&locks);
        Box::new(move || {
            for turn in 0..yields {
                let _held = locks[turn % locks.len()].lock().unwrap_or_else(PoisonError::into_inner);
                std::thread::yield_now();
            }
        }) as _
    };
    Ok(Built {
        subject: ReportedWork::Events,
        introduction: String::new(),
        events: None,
        threads: (0..settings.threads).map(|_| event()).collect(),
    })
}
