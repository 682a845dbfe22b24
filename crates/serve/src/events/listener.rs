//! A listener: a reader of events. The server never waits for a listener's connection.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::answer::events_head;
use crate::places::Peer;

/// After this time without a new event, a comment line is sent. If the reader's host is gone, TCP gets no
/// confirmation of the line, and the server notices that.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// Longest time for which the reader's connection may accept none of the pending bytes.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Listener {
    stream: TcpStream,
    pub(crate) peer: Peer,
    /// Whether the listener still waits for its first event.
    pub(crate) is_new: bool,
    /// The event that was sent last.
    heard: Option<Arc<str>>,
    /// Bytes that the connection has not accepted yet.
    unsent: Vec<u8>,
    /// When the connection last accepted bytes.
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

    /// Sends the event if it differs from the previous one. While a part of the previous event is still pending, no
    /// new event is sent, so the reader misses the events in between. Returns false if the reader is gone or too
    /// slow.
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
        // Bytes may have been added just now, although the connection last accepted bytes `SILENCE_MAX` ago. So the
        // limit is the sum of both times.
        self.send() && self.took_at.elapsed() < SILENCE_MAX + PATIENCE
    }

    /// Whether the reader's side of the connection is open. Bytes that the reader sends are ignored.
    fn is_there(&self) -> bool {
        match (&self.stream).read(&mut [0; 1024]) {
            Ok(length) => length > 0,
            Err(error) => is_for_now(&error),
        }
    }

    /// Sends as many bytes as the connection accepts without waiting. Returns false if the connection is closed.
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
