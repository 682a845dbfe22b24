//! Reads the server's messages ("Message Formats" in PostgreSQL's manual).

use super::answer::state;
use super::messages::Message;
use super::requests::{Asks, Request};
use super::{Phase, Session};
use crate::capture::bytes::Bytes;
use crate::capture::session::{Standing, Tell};
use crate::error::TrafficError;
use crate::log::Event;

/// Number of bytes that are kept of a server's message. They are enough for the SQLSTATE, which is at the start of an
/// error, and for the types of a statement's parameters, which are usually few.
const ANSWER_BYTES: usize = 4096;

/// Number of bytes that are kept of a server's message. `None` if the type of message does not exist.
pub(super) fn limit(kind: u8) -> Option<usize> {
    match kind {
        b'E' | b'C' | b'R' | b'Z' | b't' => Some(ANSWER_BYTES),
        b'D' | b'T' | b'N' | b'A' | b'S' | b'K' | b'd' | b'c' | b'v' | b'1' | b'2' | b'3' | b'n' | b's'
        | b'I' | b'G' | b'H' | b'W' | b'V' => Some(0),
        _ => None,
    }
}

impl Session {
    /// Reads a message of the server.
    pub(super) fn server_message(
        &mut self,
        message: &Message,
        tell: &mut Tell<'_>,
    ) -> Result<(), TrafficError> {
        match (self.phase, message.kind) {
            // These messages are reports that belong to no request, and data of `COPY`. They are ignored.
            (_, b'N' | b'A' | b'S' | b'd' | b'c' | b'v') | (Phase::Starting, b'K') => Ok(()),
            (Phase::Startup | Phase::Authentication, b'E') => {
                self.end();
                tell.event(Event::Command("Connect"))
            }
            (Phase::Authentication, b'R') => {
                // Four zero bytes are `AuthenticationOk`. Other messages of this type ask for a password or
                // continue the exchange.
                if message.body.starts_with(&[0; 4]) {
                    self.phase = Phase::Starting;
                    return self.connected(tell);
                }
                Ok(())
            }
            (Phase::Starting, b'Z') => {
                self.phase = Phase::Commands;
                Ok(())
            }
            (Phase::Starting, b'E') => {
                self.end();
                Ok(())
            }
            (Phase::Commands, b'E') if self.requests.is_empty() => Ok(()),
            (Phase::Commands, b'E') => self.failed(message, tell),
            (Phase::Commands, b'Z') => self.ready(message, tell),
            (Phase::Commands, kind) => self.answered(kind, message, tell),
            _ => self.violated(tell),
        }
    }

    /// Handles an error.
    fn failed(&mut self, message: &Message, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        self.standing = Standing::Certain;
        self.outcome.error = Some(state(&message.body));
        match self.requests.front().map(|request| &request.asks) {
            Some(Asks::Query(_) | Asks::Function | Asks::Sync) | None => return Ok(()),
            Some(_) => self.finish_front(tell)?,
        }
        while self.requests.front().is_some_and(|request| !matches!(request.asks, Asks::Sync)) {
            self.pop();
        }
        self.is_skipping = self.requests.is_empty();
        Ok(())
    }

    /// Handles the message that the server is ready for the next request.
    fn ready(&mut self, message: &Message, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let is_end = matches!(
            self.requests.front().map(|request| &request.asks),
            Some(Asks::Query(_) | Asks::Function | Asks::Sync)
        );
        if !is_end {
            return self.violated(tell);
        }
        self.standing = Standing::Certain;
        // Portals end with their transaction. But if the client has already sent further requests, the portals of these
        // requests belong to a later transaction, so all portals are kept.
        if message.body == b"I" && self.requests.len() == 1 {
            self.prepared.close_portals();
        }
        self.finish_front(tell)
    }

    /// Reads a message of an answer.
    fn answered(&mut self, kind: u8, message: &Message, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let Some(request) = self.requests.front() else { return self.violated(tell) };
        match (&request.asks, kind) {
            (Asks::Query(_) | Asks::Execute(_) | Asks::Fetch, b'W') => {
                self.end();
                return tell.event(Event::Command("Replication"));
            }
            (Asks::Query(_) | Asks::Execute(_) | Asks::Fetch, b'D') => self.outcome.rows += 1,
            (Asks::Query(_) | Asks::Execute(_) | Asks::Fetch, b'H') => self.outcome.is_copy_out = true,
            (Asks::Query(_), b'C') => self.outcome.complete(&message.body),
            (Asks::Query(_), b'T' | b'I' | b'G')
            | (Asks::Execute(_), b'G')
            | (Asks::Function, b'V')
            | (Asks::Describe(None), b't') => {}
            (Asks::Describe(Some(statement)), b't') => {
                let mut bytes = Bytes(&message.body);
                let count = usize::from(bytes.u16_be().unwrap_or(0));
                let kinds = std::iter::from_fn(|| bytes.u32_be()).take(count);
                *statement.kinds.borrow_mut() = kinds.collect();
            }
            (Asks::Execute(_) | Asks::Fetch, b'C') => {
                self.outcome.complete(&message.body);
                return self.finish_front(tell);
            }
            (Asks::Execute(_) | Asks::Fetch, b's' | b'I')
            | (Asks::Parse(..), b'1')
            | (Asks::Bind(_), b'2')
            | (Asks::Close, b'3')
            | (Asks::Describe(_), b'T' | b'n') => return self.finish_front(tell),
            (Asks::TooLong { answer }, kind) if *answer == kind => return self.finish_front(tell),
            _ => return self.violated(tell),
        }
        Ok(())
    }

    /// Ends the request whose answer is complete, and reports it.
    fn finish_front(&mut self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        self.standing = Standing::Certain;
        let outcome = std::mem::take(&mut self.outcome);
        match self.pop() {
            Some(request) => self.tell_request(&request, &outcome, tell),
            None => Ok(()),
        }
    }

    fn pop(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.request_bytes -= request.asks.held_bytes();
        Some(request)
    }
}
