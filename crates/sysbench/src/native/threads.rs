//! `threads`: how threads give way to each other.

use std::sync::Arc;

use dyno_kernels::{YieldLocks, threads_event};

use super::{Built, Events, Native};
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
            kind: Kind::Within(1, 1_000_000),
            default: Some("8"),
            help: "locks that threads share",
        },
    ],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "other tests can fail to be built")]
fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let yields = values.whole("thread-yields");
    let locks = Arc::new(YieldLocks::new(values.whole("thread-locks")));
    Ok(Built {
        subject: ReportedWork::Events,
        introduction: String::new(),
        events: Events::AsGiven,
        threads: (0..settings.threads).map(|_| threads_event(Arc::clone(&locks), yields)).collect(),
    })
}
