//! Watches a held database while loads run.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_engine::{Hold, HoldError, Left, Remote};
use dyno_load::ChangedNames;

/// Time between two checks for new tables of loads. If Dyno is killed, tables made after the last check are not
/// known to be Dyno's.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two keep-alive statements on an unused connection.
const STAY_EVERY: Duration = Duration::from_secs(30);

/// A held database, and the thread that records what loads make in it.
pub(crate) struct Keeper {
    pub(crate) remote: Remote,
    watched: Arc<Watched>,
    /// Ends the watch; `None` once it has ended.
    watch: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Watched {
    /// `None` once it is released.
    hold: Mutex<Option<Hold>>,
    names: ChangedNames,
}

impl Keeper {
    pub(crate) fn start(hold: Hold) -> Arc<Self> {
        let remote = hold.remote().clone();
        let watched = Arc::new(Watched { hold: Mutex::new(Some(hold)), names: ChangedNames::default() });
        let (sender, end) = channel();
        let own = Arc::clone(&watched);
        let thread = thread::spawn(move || own.watch(&end));
        Arc::new(Self { remote, watched, watch: Mutex::new(Some((sender, thread))) })
    }

    /// Where loads leave the names of the tables that they make.
    pub(crate) fn names(&self) -> ChangedNames {
        self.watched.names.clone()
    }

    /// Allows a load to begin.
    ///
    /// # Errors
    /// The load could drop tables that Dyno did not make.
    pub(crate) fn begin_load(&self) -> Result<(), HoldError> {
        match &mut *self.watched.hold() {
            Some(hold) => {
                self.watched.note(hold)?;
                hold.begin_load()
            }
            None => Ok(()),
        }
    }

    /// Drops what the run made. Returns what remains.
    pub(crate) fn release(&self) -> Option<Left> {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = watch {
            drop(sender);
            // A panic of the thread was reported already.
            let _ = thread.join();
        }
        let mut hold = self.watched.hold().take()?;
        // Objects that cannot be recorded are not dropped, and are reported.
        let _ = self.watched.note(&mut hold);
        let unknown = |error: HoldError| {
            Some(Left { database: self.remote.to_string(), names: Vec::new(), reason: error.to_string() })
        };
        hold.release().unwrap_or_else(unknown)
    }
}

impl Watched {
    fn hold(&self) -> MutexGuard<'_, Option<Hold>> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, end: &Receiver<()>) {
        let mut used_at = Instant::now();
        while end.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let mut guard = self.hold();
            let Some(hold) = guard.as_mut() else { return };
            // After a failure, it tries again at the next check, before the next load, and at the end.
            if !self.names.heard().words.is_empty() {
                let _ = self.note(hold);
                used_at = Instant::now();
            } else if used_at.elapsed() > STAY_EVERY {
                let _ = hold.stay();
                used_at = Instant::now();
            }
        }
    }

    /// Records what loads have made. After they end, new tables are not theirs.
    fn note(&self, hold: &mut Hold) -> Result<(), HoldError> {
        let heard = self.names.heard();
        hold.note(&heard.words)?;
        if heard.is_over && !heard.words.is_empty() {
            hold.rest()?;
            self.names.forget(&heard);
        }
        Ok(())
    }
}
