//! Epoll with plain system calls. Works on every Linux.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use socket2::Socket;

use super::table::Table;
use super::{Io, IoEvent, Token, Waker};

/// Size of the loop's only read buffer. For most answers, one read takes everything that the server has sent.
const READ_BYTES: usize = 64 * 1024;
/// Number of events taken from the kernel at once.
const EVENTS: usize = 1024;
/// The token of the waker's events.
const WAKER: u64 = u64::MAX;

struct Entry {
    socket: Socket,
    connecting: bool,
    unsent: Vec<u8>,
}

/// An [`Io`] that uses epoll.
pub(crate) struct Epoll {
    descriptor: OwnedFd,
    waker: Waker,
    entries: Table<Entry>,
    ready: VecDeque<(Token, u32)>,
    failed: VecDeque<(Token, io::Error)>,
    kernel_events: Vec<libc::epoll_event>,
    buffer: Vec<u8>,
    received_bytes: usize,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed; the result is checked before it is owned.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: `fd` is a new descriptor that nothing else owns.
        let descriptor = unsafe { OwnedFd::from_raw_fd(fd) };
        let waker = Waker::new()?;
        // The event is edge-triggered: each wake-up is reported once, so the counter need not be read.
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: WAKER };
        // SAFETY: `event` lives through the call; the descriptors are open.
        check(unsafe { libc::epoll_ctl(fd, libc::EPOLL_CTL_ADD, waker.descriptor(), &raw mut event) })?;
        Ok(Self {
            descriptor,
            waker,
            entries: Table::new(),
            ready: VecDeque::new(),
            failed: VecDeque::new(),
            kernel_events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS],
            buffer: vec![0; READ_BYTES],
            received_bytes: 0,
        })
    }

    fn watch(&self, operation: i32, fd: RawFd, token: Token, output: bool) -> io::Result<()> {
        let events = libc::EPOLLIN | if output { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: events as u32, u64: token.to_bits() };
        // SAFETY: `event` lives through the call; the descriptors are open.
        check(unsafe { libc::epoll_ctl(self.descriptor.as_raw_fd(), operation, fd, &raw mut event) })?;
        Ok(())
    }

    fn on_writable(&mut self, token: Token) -> io::Result<Option<IoEvent>> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(None) };
        let was_connecting = std::mem::take(&mut entry.connecting);
        if was_connecting && let Some(error) = entry.socket.take_error()? {
            return Err(error);
        }
        let sent_bytes = write_some(&entry.socket, &entry.unsent)?;
        entry.unsent.drain(..sent_bytes);
        let more = !entry.unsent.is_empty();
        let fd = entry.socket.as_raw_fd();
        self.watch(libc::EPOLL_CTL_MOD, fd, token, more)?;
        Ok(was_connecting.then_some(IoEvent::Connected(token)))
    }

    fn on_readable(&mut self, token: Token) -> io::Result<Option<IoEvent>> {
        let Some(entry) = self.entries.get_mut(token) else { return Ok(None) };
        match (&entry.socket).read(&mut self.buffer) {
            Ok(0) => Ok(Some(IoEvent::Closed(token, None))),
            Ok(bytes) => {
                self.received_bytes = bytes;
                Ok(Some(IoEvent::Received(token)))
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Io for Epoll {
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token> {
        let fd = socket.as_raw_fd();
        let token = self.entries.insert(Entry { socket, connecting, unsent: Vec::new() });
        self.watch(libc::EPOLL_CTL_ADD, fd, token, connecting)?;
        Ok(token)
    }

    fn socket(&mut self, token: Token) -> Option<&Socket> {
        self.entries.get_mut(token).map(|entry| &entry.socket)
    }

    fn remove(&mut self, token: Token) {
        // Closing the descriptor removes it from the epoll set.
        self.entries.remove(token);
    }

    fn send(&mut self, token: Token, bytes: &[u8]) {
        let Some(entry) = self.entries.get_mut(token) else { return };
        let sent = if entry.unsent.is_empty() && !entry.connecting {
            write_some(&entry.socket, bytes)
        } else {
            Ok(0)
        };
        match sent {
            Ok(sent_bytes) if sent_bytes == bytes.len() => {}
            Ok(sent_bytes) => {
                entry.unsent.extend_from_slice(&bytes[sent_bytes..]);
                let fd = entry.socket.as_raw_fd();
                if let Err(error) = self.watch(libc::EPOLL_CTL_MOD, fd, token, true) {
                    self.failed.push_back((token, error));
                }
            }
            // A failed send is not reported as an event, because the loop must still read what the server sent before
            // it closed the connection.
            Err(_) => {}
        }
    }

    fn push(&mut self) {}

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout_ms = if self.failed.is_empty() { timeout.map_or(-1, ceil_ms) } else { 0 };
        // SAFETY: the buffer holds EVENTS entries and lives through the call.
        let count = check(unsafe {
            libc::epoll_wait(
                self.descriptor.as_raw_fd(),
                self.kernel_events.as_mut_ptr(),
                EVENTS as i32,
                timeout_ms,
            )
        });
        let count = match count {
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            other => other?,
        };
        for event in self.kernel_events[..count as usize].iter().filter(|event| event.u64 != WAKER) {
            self.ready.push_back((Token::from_bits(event.u64), event.events));
        }
        Ok(())
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn next(&mut self) -> Option<IoEvent> {
        if let Some((token, error)) = self.failed.pop_front() {
            return Some(IoEvent::Closed(token, Some(error)));
        }
        while let Some((token, events)) = self.ready.pop_front() {
            let result = if events & libc::EPOLLOUT as u32 != 0 {
                if events & !(libc::EPOLLOUT as u32) != 0 {
                    self.ready.push_front((token, events & !(libc::EPOLLOUT as u32)));
                }
                self.on_writable(token)
            } else {
                self.on_readable(token)
            };
            match result {
                Ok(None) => {}
                Ok(Some(event)) => return Some(event),
                Err(error) => return Some(IoEvent::Closed(token, Some(error))),
            }
        }
        None
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.received_bytes]
    }

    fn name(&self) -> &'static str {
        "epoll"
    }
}

/// Writes as many bytes as the socket takes now, and returns their number. A broken pipe is an error and not a signal,
/// because Rust ignores SIGPIPE.
fn write_some(mut socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let mut sent_bytes = 0;
    while sent_bytes < bytes.len() {
        match socket.write(&bytes[sent_bytes..]) {
            Ok(count) => sent_bytes += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent_bytes)
}

/// Rounds up to whole milliseconds, which epoll takes. With a shorter timeout, the loop would spin until a timer is
/// due.
fn ceil_ms(timeout: Duration) -> i32 {
    timeout.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
