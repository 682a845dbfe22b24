//! State that the login and commands share: the bytes in both directions, and the messages that a server may send
//! at any time.

use super::backend::{Reader, Report};
use super::inbox::{Inbox, Message};
use crate::ProtocolError;
use crate::outbox::Outbox;

/// A connection's buffers and server data, independent of its current command.
#[derive(Default)]
pub(super) struct Link {
    pub(super) inbox: Inbox,
    pub(super) outbox: Outbox,
    /// Version that the server sent at login.
    pub(super) server_version: String,
    /// Warnings since the current result began.
    pub(super) warnings: u16,
}

impl Link {
    /// Starts a new result, which drops the previous one.
    pub(super) fn start_result(&mut self) {
        self.inbox.forget_parsed();
        self.warnings = 0;
    }

    /// Handles a message that the server may send at any time.
    ///
    /// # Errors
    /// The message is not allowed in the current state.
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
                let detail = format!("'{}' is unexpected here", tag.escape_ascii());
                return Err(ProtocolError::Malformed { what: "message", detail });
            }
        }
        Ok(())
    }
}
