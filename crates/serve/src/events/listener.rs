//! A reader of events. The server never waits for its connection.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::answer::events_head;
use crate::places::Peer;

/// After this time without a change, a line is sent anyway. If the host is gone, the line is never confirmed.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// Longest time in which a reader takes none of the pending bytes.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Listener {
    stream: TcpStream,
    pub(crate) peer: Peer,
    /// Whether nothing was sent to it yet.
    pub(crate) is_new: bool,
    /// The event that was sent last.
    heard: Option<Arc<str>>,
    /// Pending bytes, which the connection has not taken.
    unsent: Vec<u8>,
    /// When it last took bytes.
    took_at: Instant,
}

impl Listener {
    /// # Errors
    /// The connection is closed.
    pub(crate) fn new(stream: TcpStream, peer: Peer) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        SockRef::from(&stream).set_tcp_user_timeout(Some(PATIENCE))?;
        let unsent = events_head().into_bytes();
        Ok(Self { stream, peer, is_new: true, heard: None, unsent, took_at: Instant::now() })
    }

    /// Sends an event that differs from the last one. A reader that has not taken the last event gets a later one
    /// instead. Returns whether the reader is still there.
    pub(crate) fn hear(&mut self, event: &Arc<str>) -> bool {
        self.is_new = false;
        if !self.is_there() || !self.send() {
            return false;
        }
        if self.unsent.is_empty() {
            if self.heard.as_ref() != Some(event) {
                self.unsent.extend_from_slice(event.as_bytes());
                self.heard = Some(Arc::clone(event));
            } else if self.took_at.elapsed() > SILENCE_MAX {
                self.unsent.extend_from_slice(b": still here\n\n");
            }
        }
        // After a quiet time, pending bytes are new, so the reader is not late.
        self.send() && self.took_at.elapsed() < SILENCE_MAX + PATIENCE
    }

    /// Whether the reader has not closed the connection. Bytes that it sends are ignored.
    fn is_there(&self) -> bool {
        match (&self.stream).read(&mut [0; 1024]) {
            Ok(length) => length > 0,
            Err(error) => is_for_now(&error),
        }
    }

    /// Sends as much as the connection takes now. Returns false if it is closed.
    fn send(&mut self) -> bool {
        while !self.unsent.is_empty() {
            match (&self.stream).write(&self.unsent) {
                Ok(length) if length > 0 => {
                    self.unsent.drain(..length);
                    self.took_at = Instant::now();
                }
                Err(error) if is_for_now(&error) => return true,
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
