//! A plain client, which runs one query at a time and returns rows as text. It is for administration, not for load.

use std::time::Duration;

use dyno_wire::{Event, Summary};

use crate::account::Account;
use crate::address::ServerAddress;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::tls::Encryption;

/// A connection to a server.
pub struct Client(Connection);

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSet {
    /// Names of the columns; empty if the statement returns no rows.
    pub columns: Vec<String>,
    /// Rows as text; NULL is `None`.
    pub rows: Vec<Vec<Option<String>>>,
    /// How many rows the statement changed.
    pub affected_rows: u64,
}

impl Client {
    /// Connects and logs in. `patience` is the time limit for connecting and logging in. It is also the limit for
    /// each answer, from the request to the end of the answer.
    ///
    /// # Errors
    /// As [`Connection::open`].
    pub fn connect(
        account: &Account,
        address: &ServerAddress,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        Ok(Self(Connection::open(account, address, Some(patience), Some(patience))?))
    }

    /// How the connection is encrypted; `None` if it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.0.encryption()
    }

    /// Sets the time limit of answers; `None` for no limit.
    ///
    /// # Errors
    /// The operating system refuses the limit.
    pub fn set_patience(&mut self, limit: Option<Duration>) -> Result<(), ClientError> {
        self.0.set_patience(limit)
    }

    /// Executes a statement. If it has several results, as `CALL` can, returns the first.
    ///
    /// # Errors
    /// The server refuses the statement, or the connection fails.
    pub fn query(&mut self, sql: &str) -> Result<ResultSet, ClientError> {
        let deadline = self.0.deadline();
        let summary = self.first_result(sql, deadline)?;
        let mut rows = Vec::new();
        let mut fields = Vec::new();
        while self.0.protocol().next_row(&mut fields) {
            let text = |field: Vec<u8>| String::from_utf8_lossy(&field).into_owned();
            rows.push(fields.drain(..).map(|field| field.map(text)).collect());
        }
        let columns = if summary.fields == 0 { Vec::new() } else { self.0.protocol().field_names() };
        self.pass_over_others(summary, deadline)?;
        Ok(ResultSet { columns, rows, affected_rows: summary.affected_rows })
    }

    /// Executes a statement and calls `see` for each row of its first result. The first argument of `see` is a function
    /// that returns the names of the columns, and the second is the row. For queries that are repeated often, this is
    /// cheaper than [`query`](Self::query), because the rows are not converted to text, and the names are read only if
    /// `see` calls the function.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn visit(
        &mut self,
        sql: &str,
        mut see: impl FnMut(&dyn Fn() -> Vec<String>, &[Option<Vec<u8>>]),
    ) -> Result<(), ClientError> {
        let deadline = self.0.deadline();
        let summary = self.first_result(sql, deadline)?;
        let protocol = self.0.protocol();
        let mut fields = Vec::new();
        while protocol.next_row(&mut fields) {
            see(&|| protocol.field_names(), &fields);
        }
        self.pass_over_others(summary, deadline)
    }

    /// Executes a statement and skips its rows. If the statement asks the client for data, as `COPY … FROM STDIN`
    /// does, the client sends `data`. If `data` is `None`, the client refuses to send any.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn execute(&mut self, sql: &[u8], data: Option<&[u8]>) -> Result<(), ClientError> {
        let deadline = self.0.deadline();
        match data {
            Some(data) => self.0.protocol().load(sql, data),
            None => self.0.protocol().query(sql),
        }
        let summary = self.next_result(deadline)?;
        self.pass_over_others(summary, deadline)
    }

    fn first_result(&mut self, sql: &str, deadline: Option<Deadline>) -> Result<Summary, ClientError> {
        self.0.protocol().query(sql.as_bytes());
        self.next_result(deadline)
    }

    fn pass_over_others(
        &mut self,
        mut summary: Summary,
        deadline: Option<Deadline>,
    ) -> Result<(), ClientError> {
        while summary.more {
            if let Some(passed) = deadline.filter(|deadline| deadline.left().is_none()) {
                return Err(ClientError::Silent(passed.limit()));
            }
            self.0.protocol().next_result();
            summary = self.next_result(deadline)?;
        }
        Ok(())
    }

    fn next_result(&mut self, deadline: Option<Deadline>) -> Result<Summary, ClientError> {
        match self.0.exchange_until(deadline)? {
            Event::Done(summary) => Ok(summary),
            Event::Failed(error) => Err(ClientError::Server(error)),
            _ => Err(ClientError::Unexpected("something other than a result")),
        }
    }
}
