//! A blocking connection to a database, for threads and for a job's set-up.

pub(crate) mod beside;
mod dry;
pub(crate) mod failure;
mod network;
pub(crate) mod servers;
mod sqlite;

use dyno_script::{Param, ParamType, Piped, SqlFailure, StatementId};

use crate::protocol::job::{Protocol, Target};
use crate::session::servers::Dialer;

/// Figures of one result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) affected_rows: u64,
    pub(crate) rows: u64,
    pub(crate) fields: u32,
    pub(crate) more: bool,
}

/// An open connection. Every call blocks until the database has answered.
pub(crate) trait Session {
    fn query(&mut self, sql: &[u8]) -> Result<Outcome, SqlFailure>;
    /// Sends a query without waiting for its answer. [`Session::receive`] returns the answer.
    fn send(&mut self, sql: &[u8]) -> Result<(), SqlFailure>;
    /// Sends a query that reads data from the client (such as `COPY … FROM STDIN`), and the data, without waiting for
    /// the answer.
    fn load(&mut self, sql: &[u8], data: &[u8]) -> Result<(), SqlFailure>;
    /// Waits for the answer to a sent query.
    fn receive(&mut self) -> Result<Outcome, SqlFailure>;
    fn prepare(&mut self, sql: &[u8], types: &[ParamType]) -> Result<StatementId, SqlFailure>;
    fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Outcome, SqlFailure>;
    /// Executes a statement, in one round trip if the protocol allows this.
    fn execute_once(&mut self, sql: &[u8], params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        let statement = self.prepare(sql, &[])?;
        let outcome = self.execute(statement, params);
        self.close_statement(statement);
        outcome
    }
    /// Adds a part to the pipeline, which is sent later.
    fn pipe(&mut self, _part: Piped<'_>) -> Result<(), SqlFailure> {
        Err(failure::no_pipelines())
    }
    /// Sends the pipeline. Returns the result of its first statement. [`Session::next_result`] returns the other
    /// results.
    fn run_pipeline(&mut self) -> Result<Outcome, SqlFailure> {
        Err(failure::no_pipelines())
    }
    fn close_statement(&mut self, statement: StatementId);
    fn next_result(&mut self) -> Result<Outcome, SqlFailure>;
    /// Names of the most recent result's columns.
    fn field_names(&mut self) -> Vec<String>;
    /// Reads the next row of the most recent result as text. Returns false if there are no more rows.
    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool;
}

/// Opens a connection and runs the target's `on_connect` statements.
pub(crate) fn connect(target: &Target, dialer: &Dialer) -> Result<Box<dyn Session>, SqlFailure> {
    if target.dry_run {
        return Ok(Box::new(dry::DrySession::default()));
    }
    let mut session: Box<dyn Session> = match target.driver {
        Protocol::Sqlite => Box::new(sqlite::SqliteSession::open(target)?),
        Protocol::Mysql | Protocol::Pgsql => Box::new(network::NetworkSession::open(target, dialer)?),
    };
    for sql in &target.on_connect {
        session.query(sql.as_bytes()).map_err(|error| failure::on_connect(sql, error))?;
    }
    Ok(session)
}
