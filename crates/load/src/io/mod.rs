//! I/O of many sockets on one thread. The interface [`Io`] has two implementations for real sockets, and one for
//! profiles, which answers from memory.

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
    /// The peer closed the connection (`None`), or the socket broke (`Some`).
    Closed(Token, Option<io::Error>),
}

/// Sockets of one thread.
pub(crate) trait Io {
    /// Adds a non-blocking socket. It is connected, or still connecting if `connecting` is true.
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token>;
    /// Returns a socket, so that the caller can set its options.
    fn socket(&mut self, token: Token) -> Option<&Socket>;
    /// Closes a socket. It has no further events.
    fn remove(&mut self, token: Token);
    /// Sends all of `bytes`, now or as the peer takes them. If the peer takes no more bytes, [`IoEvent::Closed`]
    /// reports that, after the events for the last bytes from the peer.
    fn send(&mut self, token: Token, bytes: &[u8]);
    /// Hands queued sends to the kernel. The loop calls this function if its next wait will come only after some time.
    fn push(&mut self);
    /// Waits for an event or the waker, for at most `timeout` if there is one. Callers use a timeout only if they
    /// need it: in a virtual machine, a timer costs as much as a system call.
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()>;
    /// Waits until there are `events` events. If that takes longer than `patience`, waits only for one event.
    fn gather(&mut self, _events: usize, _patience: Duration) -> io::Result<()> {
        self.wait(None)
    }
    /// Returns the waker, with which another thread can end this thread's wait.
    fn waker(&self) -> Waker;
    /// The next event; `None` if another [`Io::wait`] is needed.
    fn next(&mut self) -> Option<IoEvent>;
    /// Returns the socket of a later event: with 0, that of the next event, with 1, that of the event after it, and so
    /// on. `None` if that event is not known.
    fn upcoming(&self, _places: usize) -> Option<Token> {
        None
    }
    /// The bytes of the most recent [`IoEvent::Received`].
    fn bytes(&self) -> &[u8];
    /// Returns the name of the I/O method, such as `io_uring` or `epoll`.
    fn name(&self) -> &'static str;
}

/// Opens the I/O of `method`. `Auto` opens the cheapest method that this kernel allows. `sockets` is the expected
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
