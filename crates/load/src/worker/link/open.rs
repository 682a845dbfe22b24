//! Opens a link. Tries the addresses in order within the time limit, and tries again if a full server drops the
//! connection.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use dyno_client::{CALLS_MAX, ClientError, Deadline, Endpoint, is_forgotten};
use dyno_script::{Probe, Reply};
use dyno_wire::{Event, Summary};

use super::{Link, LinkProgress, Stage, refused};
use crate::io::Io;
use crate::protocol::job::Target;
use crate::session::failure;
use crate::session::servers::Dialer;
use crate::statements::prepared::Statements;

impl<P: Probe> Link<P> {
    pub(in crate::worker) fn open(target: &Target, dialer: &Dialer, io: &mut dyn Io) -> (Self, LinkProgress) {
        let place = dialer.place();
        let mut link = Self {
            stage: Stage::Closed,
            endpoint: Endpoint::new(dialer.account(), place, 0),
            statements: Statements::new(target),
            place: Arc::clone(place),
            address: 0,
            token: None,
            login_by: None,
            is_watched: false,
            parting: None,
            ahead: None,
            forgotten: 0,
            has_read: false,
            summary: Summary::default(),
            probe: PhantomData,
        };
        link.limit_login(dialer);
        let step = link.call(target, dialer, io);
        (link, step)
    }

    /// Connects to the server again. The state of the earlier connection is reset.
    pub(in crate::worker) fn dial(
        &mut self,
        target: &Target,
        dialer: &Dialer,
        io: &mut dyn Io,
    ) -> LinkProgress {
        self.close(io);
        (self.parting, self.ahead) = (None, None);
        (self.place, self.address) = (Arc::clone(dialer.place()), 0);
        self.limit_login(dialer);
        self.redial(target, dialer, io)
    }

    /// Connects to the same address again. The time limit of the first attempt still applies.
    pub(in crate::worker) fn redial(
        &mut self,
        target: &Target,
        dialer: &Dialer,
        io: &mut dyn Io,
    ) -> LinkProgress {
        self.statements = Statements::new(target);
        self.call(target, dialer, io)
    }

    fn limit_login(&mut self, dialer: &Dialer) {
        self.login_by = Deadline::after(dialer.login_limit());
        self.is_watched = false;
    }

    /// The deadline for opening the connection, if the loop does not know it yet.
    pub(in crate::worker) fn new_deadline(&mut self) -> Option<Instant> {
        let deadline = self.login_by.filter(|_| !self.is_watched)?;
        self.is_watched = true;
        Some(deadline.at())
    }

    /// Whether the connection is still being opened, and `at` is its deadline.
    pub(in crate::worker) fn must_open_by(&self, at: Instant) -> bool {
        self.login_by.is_some_and(|deadline| deadline.at() == at)
    }

    /// Called when the time for the current address has passed. Tries the next address, or gives up.
    pub(in crate::worker) fn be_late(
        &mut self,
        target: &Target,
        dialer: &Dialer,
        io: &mut dyn Io,
    ) -> LinkProgress {
        let (stage, limit) = (self.stage, dialer.login_limit());
        let address = self.place.name().to_owned();
        self.close(io);
        match stage {
            Stage::Connecting | Stage::Redialling | Stage::LoggingIn if self.place.has_more(self.address) => {
                self.call_next(target, dialer, io)
            }
            Stage::Connecting | Stage::Redialling => {
                let late = io::Error::from(io::ErrorKind::TimedOut);
                LinkProgress::Reply(Reply::Failed(failure::unreachable(target.driver, &address, &late)))
            }
            _ => {
                let late = ClientError::LoginTimeout { address, limit };
                LinkProgress::Reply(Reply::Failed(failure::late(target.driver, &late)))
            }
        }
    }

    fn call_next(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        self.address += 1;
        self.limit_login(dialer);
        self.call(target, dialer, io)
    }

    fn call(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        let added = self
            .place
            .start_connecting(self.address)
            .and_then(|(socket, connecting, number)| Ok((io.add(socket, connecting)?, connecting, number)));
        match added {
            Ok((token, connecting, number)) => {
                (self.token, self.address) = (Some(token), number);
                self.endpoint = Endpoint::new(dialer.account(), &self.place, number);
                self.stage = if connecting { Stage::Connecting } else { Stage::LoggingIn };
                self.advance(target, io)
            }
            // The server does not accept a burst of connections at a unix socket fast enough, so its backlog is
            // full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.stage = Stage::Redialling;
                LinkProgress::Redial
            }
            Err(error) => {
                self.close(io);
                let failure = failure::unreachable(target.driver, self.place.name(), &error);
                LinkProgress::Reply(Reply::Failed(failure))
            }
        }
    }

    /// Continues with the login after the connection attempt succeeded.
    pub(in crate::worker) fn connected(&mut self, target: &Target, io: &mut dyn Io) -> LinkProgress {
        self.stage = Stage::LoggingIn;
        self.advance(target, io)
    }

    pub(in crate::worker) fn broken(
        &mut self,
        error: Option<&io::Error>,
        target: &Target,
        dialer: &Dialer,
        io: &mut dyn Io,
    ) -> LinkProgress {
        let (stage, login_by) = (self.stage, self.login_by);
        self.close(io);
        let failure = match stage {
            Stage::Closed | Stage::Redialling => return LinkProgress::Pending,
            Stage::Ready => {
                self.parting = Some(Box::new(match self.endpoint.advance() {
                    Ok(Event::Failed(last_words)) => refused(target, last_words),
                    _ => failure::lost(target.driver, error),
                }));
                return LinkProgress::Pending;
            }
            Stage::LoggingIn if self.is_forgotten(error) => {
                self.forgotten += 1;
                self.stage = Stage::Redialling;
                self.login_by = login_by;
                return LinkProgress::Redial;
            }
            Stage::Connecting if self.place.has_more(self.address) => {
                return self.call_next(target, dialer, io);
            }
            Stage::Connecting => {
                let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
                failure::unreachable(target.driver, self.place.name(), error.unwrap_or(&refused))
            }
            Stage::LoggingIn | Stage::SettingUp(_) | Stage::Busy => failure::lost(target.driver, error),
        };
        self.keep_ahead(LinkProgress::Reply(Reply::Failed(failure)))
    }

    fn is_forgotten(&self, error: Option<&io::Error>) -> bool {
        self.forgotten < CALLS_MAX && !self.endpoint.has_heard() && error.is_some_and(is_forgotten)
    }
}
