//! Watches a database that the run holds (has locked for itself) while loads run in it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_engine::{Hold, HoldError, Left, Remote};
use dyno_load::ChangedNames;

/// Time between two checks for new tables. If Dyno is killed, the next run does not recognise the tables that were made
/// after the last check as Dyno's.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two keep-alive statements on an unused connection.
const STAY_EVERY: Duration = Duration::from_secs(30);

/// A database that the run holds (has locked for itself), and the thread that records what loads make in it.
pub(crate) struct Keeper {
    pub(crate) remote: Remote,
    watched: Arc<Watched>,
    /// The channel that ends the watching thread, and the thread. `None` once the thread has ended.
    watch: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Watched {
    /// The lock on the database. `None` once the database is released.
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

    /// Loads record here the names of the tables that they make.
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

    /// Drops the objects that the run made, and unlocks the database. Returns the objects that remain, if any.
    pub(crate) fn release(&self) -> Option<Left> {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = watch {
            drop(sender);
            // If the thread panicked, the panic has been reported already.
            let _ = thread.join();
        }
        let mut hold = self.watched.hold().take()?;
        // If objects cannot be recorded as Dyno's, they are not dropped but reported.
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
            // A failure is ignored here, because the recording is tried again at the next check, before the next
            // load, and at the end.
            if !self.names.heard().words.is_empty() {
                let _ = self.note(hold);
                used_at = Instant::now();
            } else if used_at.elapsed() > STAY_EVERY {
                let _ = hold.stay();
                used_at = Instant::now();
            }
        }
    }

    /// Records the tables that loads have made. After the loads have ended, new tables no longer count as made by
    /// them.
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
