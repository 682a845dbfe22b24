//! `mutex`: each thread takes random locks of a large array, once through, with some empty turns between them.

use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Built, Native};
use crate::failure::Failure;
use crate::options::{Definition, Kind, Values};
use crate::random::Random;
use crate::report::ReportedWork;
use crate::settings::Settings;

pub(super) const TEST: Native = Native {
    name: "mutex",
    summary: "how fast locks are taken",
    options: &[
        Definition {
            name: "mutex-num",
            kind: Kind::Whole,
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

fn build(values: &Values, settings: &Settings) -> Result<Built, Failure> {
    let size = values.whole("mutex-num");
    if size == 0 {
        return Err(Failure::fatal("--mutex-num cannot be 0: give a number from 1 on"));
    }
    let (taken, turns) = (values.whole("mutex-locks"), values.whole("mutex-loops"));
    let locks: Arc<Vec<Mutex<u64>>> = Arc::new((0..size).map(|_| Mutex::new(0)).collect());
    let event = |thread: u32| {
        let locks = Arc::clone(&locks);
        let mut random = Random::new(settings.seed.number().wrapping_add(u64::from(thread)));
        Box::new(move || {
            for _ in 0..taken {
                (0..turns).for_each(|turn| {
                    black_box(turn);
                });
                let lock = &locks[random.below(size) as usize];
                *lock.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            }
        }) as _
    };
    Ok(Built {
        subject: ReportedWork::Events,
        introduction: String::new(),
        events: Some(u64::from(settings.threads)),
        threads: (0..settings.threads).map(event).collect(),
    })
}
