//! What login and commands both work on: the bytes in either direction, and what the server tells unasked.

use super::backend::{Reader, Report};
use super::inbox::{Inbox, Message};
use crate::ProtocolError;
use crate::outbox::Outbox;

/// A connection without regard to what it is doing.
#[derive(Default)]
pub(super) struct Link {
    pub(super) inbox: Inbox,
    pub(super) outbox: Outbox,
    /// The server's version as it gave it at login.
    pub(super) server_version: String,
    /// Warnings since the current result began.
    pub(super) warnings: u16,
}

impl Link {
    /// Drops what came before, at the start of a result.
    pub(super) fn start_result(&mut self) {
        self.inbox.forget_parsed();
        self.warnings = 0;
    }

    /// Deals with a message that the server may send at any time.
    ///
    /// # Errors
    /// It is a message that should not come now.
    pub(super) fn take_unasked(&mut self, message: Message) -> Result<(), ProtocolError> {
        let body = self.inbox.body(message);
        match message.tag {
            b'N' if Report(body).severity() == "WARNING" => self.warnings = self.warnings.saturating_add(1),
            b'S' => {
                let mut reader = Reader(body);
                if let (Some(b"server_version"), Some(version)) = (reader.c_string(), reader.c_string()) {
                    self.server_version = String::from_utf8_lossy(version).into_owned();
                }
            }
            b'N' | b'A' => {}
            tag => {
                let detail = format!("'{}' does not belong here", tag.escape_ascii());
                return Err(ProtocolError::Malformed { what: "message", detail });
            }
        }
        Ok(())
    }
}
