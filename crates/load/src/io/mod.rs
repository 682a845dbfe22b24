//! Moving bytes for many sockets on one thread: one contract, two kernels' ways of doing it.

mod buffers;
mod epoll;
mod table;
mod uring;
mod waker;

use std::io;
use std::time::Duration;

use socket2::Socket;

use crate::job::IoMethod;

pub(crate) use waker::Waker;

/// A socket in an [`Io`], never given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    pub(crate) index: u32,
    generation: u32,
}

/// What happened on a socket.
#[derive(Debug)]
pub(crate) enum IoEvent {
    /// A connection attempt ended well.
    Connected(Token),
    /// Bytes came: [`Io::bytes`], until the next call of [`Io::next`].
    Received(Token),
    /// The peer closed, or the socket broke (`Some`).
    Closed(Token, Option<io::Error>),
}

/// Sockets of one thread.
pub(crate) trait Io {
    /// Takes a non-blocking socket: already connected, or `connecting`.
    fn add(&mut self, socket: Socket, connecting: bool) -> io::Result<Token>;
    /// A socket, to set its options.
    fn socket(&mut self, token: Token) -> Option<&Socket>;
    /// Closes a socket; nothing more is heard of it.
    fn remove(&mut self, token: Token);
    /// Sends all of `bytes`, now or as the peer takes them. A peer that takes nothing more is heard of as
    /// [`IoEvent::Closed`], after what it said last.
    fn send(&mut self, token: Token, bytes: &[u8]);
    /// Hands what was sent to the kernel, where that is not done at once: the next wait is some time off.
    fn push(&mut self);
    /// Waits until something happens or the waker is used, at most `timeout` where there is one: in a virtual machine
    /// a timer costs as much as a system call.
    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()>;
    /// What ends a wait from another thread.
    fn waker(&self) -> Waker;
    /// The next thing that happened; none when another [`Io::wait`] is due.
    fn next(&mut self) -> Option<IoEvent>;
    /// The bytes of the last [`IoEvent::Received`].
    fn bytes(&self) -> &[u8];
    /// `io_uring` or `epoll`.
    fn name(&self) -> &'static str;
}

/// Opens the way that `method` asks for; `Auto` is the cheapest that this kernel allows. `sockets` is how many
/// are expected.
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
