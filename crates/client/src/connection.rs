//! A blocking connection: it runs an endpoint on a socket, one command at a time.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::time::Duration;

use dyno_wire::{Client as Protocol, Event};
use socket2::Socket;

use crate::account::Account;
use crate::address::{self, CALLS_MAX, ServerAddress};
use crate::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::error::ClientError;
use crate::tls::Encryption;

const READ_BYTES: usize = 64 * 1024;

/// A logged-in connection.
pub struct Connection {
    endpoint: Endpoint,
    socket: Socket,
    is_local: bool,
    patience: Option<Duration>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects and logs in. `login_limit` is used twice: an address must accept within this time, and then the
    /// login must be complete within this time, whatever the server sends meanwhile. `patience` is the time limit
    /// of each answer. `None` means no limit.
    ///
    /// # Errors
    /// No server accepts the connection, the server refuses the login or does not answer, or TLS fails.
    pub fn open(
        account: &Account,
        address: &ServerAddress,
        login_limit: Option<Duration>,
        patience: Option<Duration>,
    ) -> Result<Self, ClientError> {
        let mut from = 0;
        let mut deadline = None;
        let mut calls = 0;
        loop {
            calls += 1;
            let (mut connection, number) = Self::connect(account, address, from, login_limit)?;
            let until = *deadline.get_or_insert_with(|| login_limit.and_then(Deadline::after));
            match connection.log_in(until) {
                Ok(()) => {
                    connection.set_patience(patience)?;
                    return Ok(connection);
                }
                Err(ClientError::Io(error)) if calls < CALLS_MAX && connection.is_forgotten(&error) => {}
                Err(ClientError::Silent(_)) if address.has_more(number) => {
                    (from, deadline) = (number + 1, None);
                }
                Err(ClientError::Silent(limit)) => {
                    return Err(ClientError::LoginTimeout { address: address.name().to_owned(), limit });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Tries the addresses in order, beginning with the index `from`, and connects to the first one that accepts.
    /// Returns the connection and the index of its address.
    fn connect(
        account: &Account,
        address: &ServerAddress,
        from: usize,
        limit: Option<Duration>,
    ) -> Result<(Self, usize), ClientError> {
        let refused = |source| ClientError::Connect { address: address.name().to_owned(), source };
        let (socket, number) = address.connect(from, limit).map_err(refused)?;
        let endpoint = Endpoint::new(account, address, number);
        let is_local = address.is_unix(number);
        Ok((Self { endpoint, socket, is_local, patience: limit, buffer: vec![0; READ_BYTES] }, number))
    }

    fn log_in(&mut self, deadline: Option<Deadline>) -> Result<(), ClientError> {
        match self.exchange_until(deadline)? {
            Event::Ready => {
                address::logged_in(&self.socket);
                Ok(())
            }
            Event::Failed(error) => Err(ClientError::Server(error)),
            _ => Err(ClientError::Unexpected("a result")),
        }
    }

    fn is_forgotten(&self, error: &io::Error) -> bool {
        !self.endpoint.has_heard() && address::is_forgotten(error)
    }

    /// The protocol. The caller uses it to start commands and to read rows.
    pub fn protocol(&mut self) -> &mut dyn Protocol {
        self.endpoint.protocol()
    }

    /// How the connection is encrypted; `None` if it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.endpoint.encryption()
    }

    /// Sets the time limit of answers; `None` for no limit.
    ///
    /// # Errors
    /// The operating system refuses the limit.
    pub fn set_patience(&mut self, limit: Option<Duration>) -> Result<(), ClientError> {
        self.socket.set_write_timeout(limit)?;
        self.patience = limit;
        Ok(())
    }

    /// Sends the command that was started, and waits for the event that answers it. This event is never
    /// [`Event::NeedInput`]. It is [`Event::Failed`] if the server refuses the command.
    ///
    /// # Errors
    /// The connection fails, or the server does not answer within the time limit.
    pub fn exchange(&mut self) -> Result<Event, ClientError> {
        self.exchange_until(self.deadline())
    }

    /// Like [`exchange`](Self::exchange), but with a given `deadline`. Several calls that read the parts of one answer
    /// can thus share one time limit.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    pub fn exchange_until(&mut self, deadline: Option<Deadline>) -> Result<Event, ClientError> {
        loop {
            let event = self.endpoint.advance()?;
            self.send()?;
            match event {
                Event::NeedInput => self.read(deadline)?,
                event => return Ok(event),
            }
        }
    }

    /// The deadline of an answer that is requested now; `None` if there is no time limit.
    pub fn deadline(&self) -> Option<Deadline> {
        self.patience.and_then(Deadline::after)
    }

    /// Sends the command that was started, without waiting for its answer.
    ///
    /// # Errors
    /// The connection fails. If the server has closed the connection, this function returns no error, so that the next
    /// [`exchange`](Self::exchange) can return what the server had sent before.
    pub fn send(&mut self) -> Result<(), ClientError> {
        let (mut socket, patience) = (&self.socket, self.patience);
        let sent =
            self.endpoint.flush(|bytes| socket.write_all(bytes).map_err(|error| failed(error, patience)));
        match sent {
            Err(ClientError::Io(error)) if is_hang_up(&error) => Ok(()),
            outcome => outcome,
        }
    }

    fn read(&mut self, deadline: Option<Deadline>) -> Result<(), ClientError> {
        // If a signal interrupts the wait, this function returns, and the caller calls it again. This function must not
        // go on to the socket's `read`, which has no time limit and would block.
        if (self.is_local || deadline.is_some()) && !wait_for_bytes(&self.socket, deadline)? {
            return Ok(());
        }
        match self.socket.read(&mut self.buffer) {
            Ok(0) => Err(ClientError::Closed),
            Ok(bytes) => Ok(self.endpoint.receive(&self.buffer[..bytes])?),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(ClientError::Io(error)),
        }
    }
}

/// The error for a write that failed or took too long.
fn failed(error: io::Error, patience: Option<Duration>) -> ClientError {
    match patience {
        Some(patience) if error.kind() == io::ErrorKind::WouldBlock => ClientError::Silent(patience),
        _ => ClientError::Io(error),
    }
}

/// Sleeps until there is something to read or the peer is gone. Returns false if a signal came first.
///
/// A thread that sleeps in `recv(2)` on a unix socket is woken twice per answer: the kernel also wakes it when the peer
/// has read the request. A thread that sleeps in `poll(2)` is woken only once. If the socket has an error, the read
/// after this function reports it.
fn wait_for_bytes(socket: &Socket, deadline: Option<Deadline>) -> Result<bool, ClientError> {
    let mut interest = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit_ms = match deadline {
        None => -1,
        Some(deadline) => {
            let left = deadline.left().ok_or(ClientError::Silent(deadline.limit()))?;
            i32::try_from(left.as_millis().max(1)).unwrap_or(i32::MAX)
        }
    };
    // SAFETY: `interest` is one descriptor that lives through the call.
    match (unsafe { libc::poll(&raw mut interest, 1, limit_ms) }, deadline) {
        (0, Some(deadline)) => Err(ClientError::Silent(deadline.limit())),
        (-1, _) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(false),
        _ => Ok(true),
    }
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.protocol().quit();
        // Errors are ignored, because the server may be gone, and closing the socket also ends the session.
        let _ = self.send();
    }
}
