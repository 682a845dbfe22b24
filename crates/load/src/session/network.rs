//! A blocking connection over a socket.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use dyno_script::{Param, SqlFailure, StatementId};
use dyno_wire::{Event, Summary};
use socket2::Socket;

use super::{Outcome, Session};
use crate::dial::{self, Dialer, ServerAddress};
use crate::endpoint::{Endpoint, EndpointError};
use crate::failure;
use crate::job::{Protocol, Target};

const READ_BYTES: usize = 64 * 1024;

pub(super) struct NetworkSession {
    driver: Protocol,
    ignore_errors: Option<Vec<String>>,
    endpoint: Endpoint,
    socket: Socket,
    local: bool,
    buffer: Vec<u8>,
}

impl NetworkSession {
    pub(super) fn open(target: &Target, dialer: &Dialer) -> Result<Self, SqlFailure> {
        let driver = target.driver;
        let place = dialer.place();
        let socket =
            call(place, driver).map_err(|error| failure::unreachable(driver, place.name(), &error))?;
        let endpoint = Endpoint::new(target, dialer, place);
        let ignore_errors = target.ignore_errors.clone();
        let (local, buffer) = (place.is_local(), vec![0; READ_BYTES]);
        let mut session = Self { driver, ignore_errors, endpoint, socket, local, buffer };
        session.exchange()?;
        dial::logged_in(&session.socket);
        Ok(session)
    }

    /// Sends a request and waits for the event that answers it.
    fn exchange(&mut self) -> Result<Event, SqlFailure> {
        loop {
            let event =
                self.endpoint.advance().map_err(|error| failure::from_endpoint(self.driver, &error))?;
            self.flush()?;
            match event {
                Event::NeedInput => self.read()?,
                Event::Failed(error) => {
                    return Err(failure::from_server(self.driver, self.ignore_errors.as_deref(), error));
                }
                other => return Ok(other),
            }
        }
    }

    fn flush(&mut self) -> Result<(), SqlFailure> {
        let mut socket = &self.socket;
        let sent = self.endpoint.flush(|bytes| socket.write_all(bytes).map_err(EndpointError::from));
        sent.or_else(|error| match error {
            // After a failed send, read what the server sent before it closed.
            EndpointError::Tls(error) if is_hang_up(&error) => Ok(()),
            EndpointError::Tls(error) => Err(failure::lost(self.driver, Some(&error))),
            error @ EndpointError::Protocol(_) => Err(failure::from_endpoint(self.driver, &error)),
        })
    }

    fn read(&mut self) -> Result<(), SqlFailure> {
        if self.local {
            wait_for_bytes(&self.socket);
        }
        match self.socket.read(&mut self.buffer) {
            Ok(0) => Err(failure::lost(self.driver, None)),
            Ok(bytes) => {
                let received = self.endpoint.receive(&self.buffer[..bytes]);
                received.map_err(|error| failure::from_endpoint(self.driver, &error))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(failure::lost(self.driver, Some(&error))),
        }
    }

    fn outcome(&mut self) -> Result<Outcome, SqlFailure> {
        match self.exchange()? {
            Event::Done(summary) => Ok(summary.into()),
            _ => Err(failure::lost(self.driver, None)),
        }
    }
}

/// Connects until the server has accepted: MySQL speaks first, so wait for it.
fn call(place: &ServerAddress, driver: Protocol) -> io::Result<Socket> {
    let mut calls = 0;
    loop {
        let socket = place.connect()?;
        if driver != Protocol::Mysql {
            return Ok(socket);
        }
        calls += 1;
        match socket.peek(&mut [MaybeUninit::uninit()]) {
            Err(error) if dial::is_forgotten(&error) && calls < dial::CALLS_MAX => {}
            // Other errors show when reading.
            _ => return Ok(socket),
        }
    }
}

/// Sleeps until there is something to read, or the peer is gone.
///
/// A thread that sleeps in `recv(2)` on a unix socket is woken twice per answer: the kernel also wakes it when the
/// peer has read the request. `poll(2)` is not woken by that. The read that follows reports errors.
fn wait_for_bytes(socket: &Socket) {
    let mut interest = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: `interest` is one descriptor that lives through the call.
    unsafe { libc::poll(&raw mut interest, 1, -1) };
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl Session for NetworkSession {
    fn query(&mut self, sql: &[u8]) -> Result<Outcome, SqlFailure> {
        self.endpoint.client().query(sql);
        self.outcome()
    }

    fn send(&mut self, sql: &[u8]) -> Result<(), SqlFailure> {
        self.endpoint.client().query(sql);
        self.flush()
    }

    fn receive(&mut self) -> Result<Outcome, SqlFailure> {
        self.outcome()
    }

    fn prepare(&mut self, sql: &[u8]) -> Result<StatementId, SqlFailure> {
        if let Some(statement) = self.endpoint.prepare(sql) {
            return Ok(statement);
        }
        match self.exchange()? {
            Event::Prepared(statement) => Ok(statement),
            _ => Err(failure::lost(self.driver, None)),
        }
    }

    fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        self.endpoint.execute(statement, params);
        self.outcome()
    }

    fn close_statement(&mut self, statement: StatementId) {
        self.endpoint.close_statement(statement);
    }

    fn next_result(&mut self) -> Result<Outcome, SqlFailure> {
        self.endpoint.client().next_result();
        self.outcome()
    }

    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.endpoint.client().next_row(fields)
    }
}

impl Drop for NetworkSession {
    fn drop(&mut self) {
        self.endpoint.client().quit();
        // Errors are ignored: the server may be gone.
        let _ = self.flush();
    }
}

impl From<Summary> for Outcome {
    fn from(summary: Summary) -> Self {
        Self {
            affected_rows: summary.affected_rows,
            rows: summary.rows,
            fields: summary.fields,
            more: summary.more,
        }
    }
}
