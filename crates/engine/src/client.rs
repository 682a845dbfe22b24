//! A plain blocking client: one query at a time, rows as text. For administration, not for load.

mod error;

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use dyno_wire::{Client as Protocol, Event, Login, Summary};

pub use self::error::ClientError;
use crate::access::{Access, DATABASE, HOST};
use crate::entry::Family;
use crate::family::{Procedure, procedure};

const READ_BYTES: usize = 16 * 1024;

/// A connection to a server.
pub struct Client {
    stream: Box<dyn Stream>,
    protocol: Box<dyn Protocol>,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSet {
    /// Names of its columns; empty if the statement returns no rows.
    pub columns: Vec<String>,
    /// Rows as text; NULL is `None`.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows that the statement changed.
    pub affected_rows: u64,
}

/// The rows of a query for settings: names and values.
pub(crate) fn variables_of(result: ResultSet) -> Vec<(String, String)> {
    let name_and_value = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        Some((fields.next()?, fields.next()?))
    };
    result.rows.into_iter().filter_map(name_and_value).collect()
}

/// How to connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Socket,
    Tcp,
}

trait Stream: Read + Write + Send {
    fn set_patience(&self, limit: Option<Duration>) -> io::Result<()>;
}

impl Stream for UnixStream {
    fn set_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(limit)?;
        self.set_write_timeout(limit)
    }
}

impl Stream for TcpStream {
    fn set_patience(&self, limit: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(limit)?;
        self.set_write_timeout(limit)
    }
}

impl Client {
    /// Connects to a server of a family and logs in. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// There is no server, or it refuses or does not answer.
    pub fn connect(
        family: Family,
        access: &Access,
        transport: Transport,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let procedure = procedure(family).ok_or(ClientError::NoServer)?;
        Self::connect_by(procedure, access, transport, patience)
    }

    pub(crate) fn connect_by(
        procedure: &dyn Procedure,
        access: &Access,
        transport: Transport,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let login = Login {
            user: access.user.clone(),
            password: access.password.clone(),
            database: DATABASE.to_owned(),
            local: transport == Transport::Socket,
            ..Login::default()
        };
        let protocol = procedure.protocol(login);
        match transport {
            Transport::Socket => Self::over_unix(&access.socket, protocol, patience),
            Transport::Tcp => Self::over_tcp((HOST, access.port), protocol, patience),
        }
    }

    pub(crate) fn over_unix(
        socket: &Path,
        protocol: Box<dyn Protocol>,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        Self::log_in(Box::new(UnixStream::connect(socket)?), protocol, patience)
    }

    /// Tries every address of a name.
    pub(crate) fn over_tcp(
        place: (&str, u16),
        protocol: Box<dyn Protocol>,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        let mut failure = io::Error::other("the name has no address");
        for address in place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(stream) => return Self::log_in(Box::new(stream), protocol, patience),
                Err(error) => failure = error,
            }
        }
        Err(failure.into())
    }

    fn log_in(
        stream: Box<dyn Stream>,
        protocol: Box<dyn Protocol>,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        stream.set_patience(Some(patience))?;
        let mut client = Self { stream, protocol };
        match client.next_event()? {
            Event::Ready => Ok(client),
            Event::StartTls => Err(ClientError::Unexpected("TLS")),
            _ => Err(ClientError::Unexpected("a result")),
        }
    }

    /// Sets the time limit of answers; none for no limit.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_patience(&mut self, limit: Option<Duration>) -> Result<(), ClientError> {
        Ok(self.stream.set_patience(limit)?)
    }

    /// Executes a statement. If it has several results, as `CALL` can, returns the first.
    ///
    /// # Errors
    /// The server refuses the statement, or the connection fails.
    pub fn query(&mut self, sql: &str) -> Result<ResultSet, ClientError> {
        self.protocol.query(sql.as_bytes());
        let mut summary = self.next_result()?;
        let first = self.result_set(summary);
        while summary.more {
            self.protocol.next_result();
            summary = self.next_result()?;
        }
        Ok(first)
    }

    /// Executes a statement and calls back for each row of its first result, with access to column names: for
    /// queries that are repeated often.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub(crate) fn visit(
        &mut self,
        sql: &str,
        mut see: impl FnMut(&dyn Fn() -> Vec<String>, &[Option<Vec<u8>>]),
    ) -> Result<(), ClientError> {
        self.protocol.query(sql.as_bytes());
        let mut summary = self.next_result()?;
        let mut fields = Vec::new();
        while self.protocol.next_row(&mut fields) {
            see(&|| self.protocol.field_names(), &fields);
        }
        while summary.more {
            self.protocol.next_result();
            summary = self.next_result()?;
        }
        Ok(())
    }

    fn next_result(&mut self) -> Result<Summary, ClientError> {
        match self.next_event()? {
            Event::Done(summary) => Ok(summary),
            _ => Err(ClientError::Unexpected("something other than a result")),
        }
    }

    fn result_set(&mut self, summary: Summary) -> ResultSet {
        let mut rows = Vec::new();
        let mut fields = Vec::new();
        while self.protocol.next_row(&mut fields) {
            let text = |field: Vec<u8>| String::from_utf8_lossy(&field).into_owned();
            rows.push(fields.drain(..).map(|field| field.map(text)).collect());
        }
        let columns = if summary.fields == 0 { Vec::new() } else { self.protocol.field_names() };
        ResultSet { columns, rows, affected_rows: summary.affected_rows }
    }

    /// Moves bytes until the next protocol event. A refusal is an error.
    fn next_event(&mut self) -> Result<Event, ClientError> {
        let mut buffer = [0; READ_BYTES];
        loop {
            match self.protocol.advance()? {
                Event::NeedInput => {}
                Event::Failed(error) => return Err(ClientError::Server(error)),
                event => return Ok(event),
            }
            self.send()?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(received_bytes) => self.protocol.receive(&buffer[..received_bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send(&mut self) -> io::Result<()> {
        let output = self.protocol.output();
        self.stream.write_all(output)?;
        let sent_bytes = output.len();
        self.protocol.consume_output(sent_bytes);
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.protocol.quit();
        // Closing the socket says goodbye too.
        let _ = self.send();
    }
}
