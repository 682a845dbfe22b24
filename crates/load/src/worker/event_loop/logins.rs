//! Enforces the time limit of connections that are being opened.

use std::time::{Duration, Instant};

use dyno_script::Probe;

use super::{EventLoop, LoopError};

/// A connection that must be open by a deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Login {
    at: Instant,
    slot: usize,
    link: usize,
}

impl<P: Probe> EventLoop<'_, P> {
    /// Adds a connection to `logins` if it is being opened and its deadline is not there yet.
    pub(super) fn watch_login(&mut self, slot: usize, link: usize) {
        if let Some(at) = self.slots[slot].links[link].new_deadline() {
            self.logins.push_back(Login { at, slot, link });
        }
    }

    /// Time until the next deadline of a connection that is being opened. `None` if all are open, so that events
    /// need no timer.
    pub(super) fn login_wait(&mut self) -> Option<Duration> {
        self.next_login().map(|login| login.at.saturating_duration_since(Instant::now()))
    }

    /// Returns the connection with the next deadline, of those that are still being opened.
    fn next_login(&mut self) -> Option<Login> {
        while let Some(login) = self.logins.front().copied() {
            // The connection may have been lost. Its link then no longer exists.
            let link = self.slots[login.slot].links.get(login.link);
            if link.is_some_and(|link| link.must_open_by(login.at)) {
                return Some(login);
            }
            self.logins.pop_front();
        }
        None
    }

    /// Gives up the connections whose deadline has passed.
    pub(super) fn end_late_logins(&mut self) -> Result<(), LoopError> {
        while let Some(Login { at, slot, link }) = self.next_login() {
            if Instant::now() < at {
                return Ok(());
            }
            self.logins.pop_front();
            let (target, dialer) = (&self.shared.job.target, &self.shared.dialer);
            let step = self.slots[slot].links[link].be_late(target, dialer, &mut *self.io);
            self.on_step(slot, step)?;
        }
        Ok(())
    }
}
