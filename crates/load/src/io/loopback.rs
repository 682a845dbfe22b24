//! Answers from memory, for profiles without a server and without system calls.

use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use dyno_script::{Probe, Stage};
use socket2::Socket;

use super::table::Table;
use super::{Io, IoEvent, Token, Waker};
use crate::profile::Canned;
use crate::protocol::job::Protocol;

/// If nothing was sent, no answer can come. The loop then waits for this time.
const REST: Duration = Duration::from_millis(1);

struct Entry {
    /// The connected socket. No bytes are sent over it.
    socket: Socket,
    server: Canned,
    /// The server's answer, which the client has not read yet.
    answer: Vec<u8>,
}

/// An [`Io`] that answers from memory. Bytes that are sent in one iteration of the loop are answered in the next one.
pub(crate) struct Loopback<P> {
    protocol: Protocol,
    waker: Waker,
    entries: Table<Entry>,
    /// Sockets whose answers arrive in the loop's next iteration.
    answered: VecDeque<Token>,
    /// Sockets whose answers have arrived, and that are next in the queue of events.
    arrived: VecDeque<Token>,
    /// The bytes of the most recent [`IoEvent::Received`].
    bytes: Vec<u8>,
    probe: PhantomData<P>,
}

impl<P: Probe> Loopback<P> {
    pub(crate) fn new(protocol: Protocol) -> io::Result<Self> {
        Ok(Self {
            protocol,
            waker: Waker::new()?,
            entries: Table::new(),
            answered: VecDeque::new(),
            arrived: VecDeque::new(),
            bytes: Vec::new(),
            probe: PhantomData,
        })
    }
}

impl<P: Probe> Io for Loopback<P> {
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token> {
        if connecting {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let mut answer = Vec::new();
        let server = Canned::open(self.protocol, &mut answer);
        let speaks_first = !answer.is_empty();
        let token = self.entries.insert(Entry { socket, server, answer });
        if speaks_first {
            self.answered.push_back(token);
        }
        Ok(token)
    }

    fn socket(&mut self, token: Token) -> Option<&Socket> {
        self.entries.get_mut(token).map(|entry| &entry.socket)
    }

    fn remove(&mut self, token: Token) {
        self.entries.remove(token);
    }

    fn send(&mut self, token: Token, bytes: &[u8]) {
        let outer = P::enter(Stage::Peer);
        if let Some(entry) = self.entries.get_mut(token) {
            let was_silent = entry.answer.is_empty();
            entry.server.hear(bytes, &mut entry.answer);
            if was_silent && !entry.answer.is_empty() {
                self.answered.push_back(token);
            }
        }
        P::enter(outer);
    }

    fn push(&mut self) {}

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        std::mem::swap(&mut self.arrived, &mut self.answered);
        if self.arrived.is_empty() {
            std::thread::sleep(timeout.map_or(REST, |timeout| timeout.min(REST)));
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn next(&mut self) -> Option<IoEvent> {
        loop {
            let token = self.arrived.pop_front()?;
            if let Some(entry) = self.entries.get_mut(token) {
                self.bytes.clear();
                std::mem::swap(&mut self.bytes, &mut entry.answer);
                return Some(IoEvent::Received(token));
            }
        }
    }

    fn upcoming(&self, places: usize) -> Option<Token> {
        self.arrived.get(places).copied()
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn name(&self) -> &'static str {
        "memory"
    }
}
