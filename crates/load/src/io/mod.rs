//! I/O of many sockets on one thread: one interface, two implementations, and a third without a kernel for profiles.

mod buffers;
mod epoll;
mod loopback;
mod table;
mod uring;
mod waker;

use std::io;
use std::time::Duration;

use socket2::Socket;

use crate::protocol::job::IoMethod;

pub(crate) use epoll::Epoll;
pub(crate) use loopback::Loopback;
pub(crate) use waker::Waker;

/// A socket in an [`Io`]. Tokens are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    pub(crate) index: u32,
    generation: u32,
}

/// An event of a socket.
#[derive(Debug)]
pub(crate) enum IoEvent {
    /// A connection attempt succeeded.
    Connected(Token),
    /// Bytes arrived: [`Io::bytes`] has them until the next call of [`Io::next`].
    Received(Token),
    /// The peer closed, or the socket broke (`Some`).
    Closed(Token, Option<io::Error>),
}

/// Sockets of one thread.
pub(crate) trait Io {
    /// Adds a non-blocking socket: connected, or `connecting`.
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token>;
    /// A socket, for its options.
    fn socket(&mut self, token: Token) -> Option<&Socket>;
    /// Closes a socket. It has no further events.
    fn remove(&mut self, token: Token);
    /// Sends all of `bytes`, now or as the peer takes them. A peer that takes no more is reported as
    /// [`IoEvent::Closed`], after the last bytes that it sent.
    fn send(&mut self, token: Token, bytes: &[u8]);
    /// Hands queued sends to the kernel. Called when the next wait is some time away.
    fn push(&mut self);
    /// Waits for an event or the waker, at most for `timeout` if there is one. In a virtual machine, a timer costs as
    /// much as a system call.
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()>;
    /// Waits for several events, or for one if they do not come within `patience`.
    fn gather(&mut self, _events: usize, _patience: Duration) -> io::Result<()> {
        self.wait(None)
    }
    /// The waker, which ends a wait from another thread.
    fn waker(&self) -> Waker;
    /// The next event; `None` if another [`Io::wait`] is needed.
    fn next(&mut self) -> Option<IoEvent>;
    /// The socket of the event that is `places` behind the next, if that is known.
    fn upcoming(&self, _places: usize) -> Option<Token> {
        None
    }
    /// The bytes of the last [`IoEvent::Received`].
    fn bytes(&self) -> &[u8];
    /// `io_uring` or `epoll`.
    fn name(&self) -> &'static str;
}

/// Opens the I/O of `method`. `Auto` is the cheapest that this kernel allows. `sockets` is the expected
/// number of sockets.
pub(crate) fn open(method: IoMethod, sockets: usize) -> io::Result<Box<dyn Io>> {
    match method {
        IoMethod::Epoll => Ok(Box::new(epoll::Epoll::new()?)),
        IoMethod::Uring => Ok(Box::new(uring::Uring::new(sockets)?)),
        IoMethod::Auto => match uring::Uring::new(sockets) {
            Ok(uring) => Ok(Box::new(uring)),
            Err(_) => Ok(Box::new(epoll::Epoll::new()?)),
        },
    }
}

#[cfg(test)]
mod tests;
