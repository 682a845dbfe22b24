//! A client of the load. It runs transactions one after the other, and records how each ended from the client's
//! point of view.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use dyno_stats::SplitMix64;

use crate::clients::contents::statements;
use crate::clients::ledger::{Fate, Ledger};
use crate::clients::session::{Session, SessionError};

/// On average, one in this many transactions is rolled back on purpose.
const ROLLED_BACK_ONE_OF: usize = 16;

/// The state that the clients of a load share.
#[derive(Debug)]
pub(crate) struct Course {
    /// When the crash test began.
    pub(crate) epoch: Instant,
    pub(crate) stop: AtomicBool,
    /// Set when the power is cut. Answers that arrive later are not counted, because a machine without power cannot
    /// answer.
    pub(crate) is_cut: AtomicBool,
    pub(crate) acknowledged: AtomicU64,
    /// Number of clients that still work. A client ends when the system no longer answers, or when the load is
    /// stopped.
    pub(crate) alive: AtomicU32,
    pub(crate) last_refusal: Mutex<Option<String>>,
}

impl Course {
    pub(crate) fn new(epoch: Instant, clients: u32) -> Self {
        Self {
            epoch,
            stop: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            acknowledged: AtomicU64::new(0),
            alive: AtomicU32::new(clients),
            last_refusal: Mutex::new(None),
        }
    }

    fn note_refusal(&self, text: String) {
        *self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    pub(crate) fn last_refusal(&self) -> Option<String> {
        self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Runs transactions until `course.stop` is set or the system no longer answers.
pub(crate) fn work(ledger: &mut Ledger, session: &mut dyn Session, course: &Course, seed: u64) {
    let mut random = SplitMix64::new(seed);
    while !course.stop.load(Ordering::Relaxed) {
        let rolls_back = random.below(ROLLED_BACK_ONE_OF) == 0;
        if transaction(ledger, session, course, rolls_back).is_err() {
            break;
        }
    }
    course.alive.fetch_sub(1, Ordering::Relaxed);
}

/// The system no longer answers.
struct Gone;

fn transaction(
    ledger: &mut Ledger,
    session: &mut dyn Session,
    course: &Course,
    rolls_back: bool,
) -> Result<(), Gone> {
    let seq = ledger.begin();
    let statements = statements(ledger.client, seq);
    let is_written = std::iter::once("BEGIN")
        .chain(statements.iter().map(String::as_str))
        .try_for_each(|sql| session.execute(sql));
    match is_written {
        Err(SessionError::Gone(_)) => return Err(Gone),
        Err(SessionError::Refused(text)) => {
            course.note_refusal(text);
            return roll_back(session);
        }
        Ok(()) if rolls_back => return roll_back(session),
        Ok(()) => {}
    }
    ledger.note(seq, Fate::InDoubt);
    match session.execute("COMMIT") {
        Ok(()) => {
            if !course.is_cut.load(Ordering::SeqCst) {
                ledger.note(seq, Fate::Acknowledged(course.epoch.elapsed()));
                course.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
        Err(SessionError::Gone(_)) => Err(Gone),
        Err(SessionError::Refused(text)) => {
            course.note_refusal(text);
            roll_back(session)
        }
    }
}

fn roll_back(session: &mut dyn Session) -> Result<(), Gone> {
    session.execute("ROLLBACK").map_err(|_| Gone)
}
