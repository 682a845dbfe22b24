//! `mutex`: each thread takes locks of an array once, with empty turns before each.

use std::sync::Arc;

use dyno_kernels::{Locks, mutex_event};

use super::{Built, Events, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::report::ReportedWork;
use crate::settings::Settings;

pub(super) const TEST: Native = Native {
    name: "mutex",
    summary: "how fast locks are taken",
    options: &[
        Definition {
            name: "mutex-num",
            kind: Kind::Within(1, 100_000_000),
            default: Some("4096"),
            help: "locks in the array",
        },
        Definition {
            name: "mutex-locks",
            kind: Kind::Whole,
            default: Some("50000"),
            help: "locks that each thread takes",
        },
        Definition {
            name: "mutex-loops",
            kind: Kind::Whole,
            default: Some("10000"),
            help: "empty turns before each lock",
        },
    ],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "other tests can fail to be built")]
fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let locks = Arc::new(Locks::new(values.whole("mutex-num")));
    let (taken, turns) = (values.whole("mutex-locks"), values.whole("mutex-loops"));
    let event = |thread: u32| {
        let seed = settings.seed.number().wrapping_add(u64::from(thread));
        mutex_event(Arc::clone(&locks), taken, turns, seed)
    };
    Ok(Built {
        subject: ReportedWork::Events,
        introduction: String::new(),
        events: Events::AtMost(u64::from(settings.threads)),
        threads: (0..settings.threads).map(event).collect(),
    })
}
