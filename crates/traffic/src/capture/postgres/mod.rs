//! Sessions in PostgreSQL's protocol ("Frontend/Backend Protocol" in its manual,
//! <https://www.postgresql.org/docs/current/protocol.html>).

mod answer;
mod messages;
mod prepared;
mod requests;
mod server;
mod startup;
mod tell;
mod values;

use std::collections::VecDeque;

use self::answer::Outcome;
use self::messages::{Message, Messages};
use self::prepared::Prepared;
pub(super) use self::requests::is_request;
use self::requests::{Asks, Request, asks, asks_too_long};
pub(super) use self::startup::is_startup;
use self::startup::{STARTUP_BYTES_MAX, Startup, startup};
use super::bytes::Bytes;
use super::session::{Standing, Tell};
use super::tls::is_tls;
use crate::error::TrafficError;
use crate::log::{Event, Trouble};

/// Largest number of requests of a session that wait for their answers.
const REQUESTS_MAX: usize = 100_000;

/// A session that is observed.
pub(super) struct Session {
    standing: Standing,
    phase: Phase,
    client: Messages,
    server: Messages,
    requests: VecDeque<Request>,
    request_bytes: usize,
    outcome: Outcome,
    /// Whether the server ignores requests up to the next `Sync`, because a request has failed.
    is_skipping: bool,
    prepared: Prepared,
    user: Vec<u8>,
    database: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client's first message is expected.
    Startup,
    /// The server accepts or refuses encryption with one byte.
    Encryption,
    /// The server checks the client, and accepts or refuses it.
    Authentication,
    /// The user is logged in, but the server is not ready yet.
    Starting,
    Commands,
}

impl Session {
    /// Creates a session that is read from its first byte.
    pub(super) fn from_begin() -> Self {
        Self { standing: Standing::Certain, phase: Phase::Startup, ..Self::joined() }
    }

    /// Creates a session that was open before the capture. It is read from its next request on.
    pub(super) fn joined() -> Self {
        Self {
            standing: Standing::Lost,
            phase: Phase::Commands,
            client: Messages::default(),
            server: Messages::default(),
            requests: VecDeque::new(),
            request_bytes: 0,
            outcome: Outcome::default(),
            is_skipping: false,
            prepared: Prepared::default(),
            user: Vec::new(),
            database: Vec::new(),
        }
    }

    /// Handles bytes that do not follow the protocol: the session is lost until its next request.
    fn violated(&mut self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let is_loss = super::session::Session::lose(self);
        if is_loss { tell.trouble(Trouble::PacketsMissing) } else { Ok(()) }
    }

    /// Stops reading the session.
    fn end(&mut self) {
        *self = Self { standing: Standing::Over, ..Self::joined() };
    }

    fn client_message(&mut self, message: &Message, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        match (self.phase, message.kind) {
            (Phase::Startup, _) => match startup(&message.body) {
                Some(Startup::Encryption) => {
                    self.phase = Phase::Encryption;
                    Ok(())
                }
                Some(Startup::Cancel) => {
                    self.end();
                    tell.event(Event::Command("Cancel"))
                }
                Some(Startup::Login { user, database }) => {
                    (self.user, self.database) = (user, database);
                    self.phase = Phase::Authentication;
                    Ok(())
                }
                None => {
                    self.end();
                    tell.trouble(Trouble::NotRecognised)
                }
            },
            (Phase::Encryption, _) => self.violated(tell),
            // These messages are `Flush`, `Terminate`, passwords, and the data of `COPY`. They are ignored.
            (Phase::Authentication, _) | (_, b'p' | b'd' | b'c' | b'f' | b'H' | b'X') => Ok(()),
            (Phase::Starting | Phase::Commands, kind) => self.request(kind, message, tell),
        }
    }

    fn request(&mut self, kind: u8, message: &Message, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let asks = if message.is_cut() {
            tell.trouble(Trouble::TooLong)?;
            asks_too_long(kind)
        } else {
            asks(kind, &message.body, &mut self.prepared)
        };
        let Some(asks) = asks else { return self.violated(tell) };
        self.is_skipping &= !matches!(asks, Asks::Sync);
        if self.is_skipping {
            return Ok(());
        }
        if self.requests.len() >= REQUESTS_MAX {
            return self.violated(tell);
        }
        self.request_bytes += asks.held_bytes();
        self.requests.push_back(Request { asks, at: tell.at });
        Ok(())
    }
}

impl super::session::Session for Session {
    fn client(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        if self.standing == Standing::Lost && is_tls(bytes) {
            self.end();
            return tell.trouble(Trouble::Encrypted);
        }
        if self.standing == Standing::Lost && is_request(bytes) {
            self.standing = Standing::Supposed;
        }
        let mut bytes = Bytes(bytes);
        while matches!(self.standing, Standing::Certain | Standing::Supposed) {
            let is_typed = self.phase != Phase::Startup;
            let limit = |kind| if is_typed { requests::limit(kind) } else { Some(STARTUP_BYTES_MAX) };
            match self.client.next(&mut bytes, is_typed, limit) {
                Ok(Some(message)) => {
                    self.client_message(&message, tell)?;
                    self.client.reuse(message.body);
                }
                Ok(None) => break,
                Err(_) => return self.violated(tell),
            }
        }
        Ok(())
    }

    fn server(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let mut bytes = Bytes(bytes);
        while matches!(self.standing, Standing::Certain | Standing::Supposed) {
            if self.phase == Phase::Encryption {
                match bytes.u8() {
                    Some(b'N') => self.phase = Phase::Startup,
                    Some(b'S' | b'G') => {
                        self.end();
                        return tell.trouble(Trouble::Encrypted);
                    }
                    Some(_) => return self.violated(tell),
                    None => break,
                }
                continue;
            }
            match self.server.next(&mut bytes, true, server::limit) {
                Ok(Some(message)) => {
                    self.server_message(&message, tell)?;
                    self.server.reuse(message.body);
                }
                Ok(None) => break,
                Err(_) => return self.violated(tell),
            }
        }
        Ok(())
    }

    fn lose(&mut self) -> bool {
        if self.standing == Standing::Over {
            return false;
        }
        let was_certain = self.standing == Standing::Certain;
        let mut prepared = std::mem::take(&mut self.prepared);
        prepared.forget_uncertain();
        *self = Self { prepared, ..Self::joined() };
        was_certain
    }

    fn standing(&self) -> Standing {
        self.standing
    }

    fn is_waiting(&self) -> bool {
        !self.requests.is_empty()
    }

    fn held_bytes(&self) -> usize {
        self.client.held_bytes()
            + self.server.held_bytes()
            + self.request_bytes
            + self.prepared.held_bytes()
            + self.user.capacity()
            + self.database.capacity()
    }

    fn begin_file(&mut self) {
        self.requests.iter_mut().for_each(|request| request.at.number = 1);
    }
}
