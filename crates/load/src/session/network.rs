//! A session with a server.

use dyno_client::{ClientError, Connection};
use dyno_script::{Param, ParamType, Piped, SqlFailure, StatementId};
use dyno_wire::{Event, Summary};

use super::{Outcome, Session};
use crate::protocol::job::{Protocol, Target};
use crate::session::failure;
use crate::session::servers::Dialer;
use crate::statements::prepared::Statements;

/// Largest pipeline, in bytes. A socket's buffers have room for this many. A thread writes all of a pipeline before it
/// reads. If the pipeline were larger, the server might wait until its answers are read, and read no more of the
/// pipeline.
const PIPELINE_BYTES_MAX: usize = 64 << 10;

pub(super) struct NetworkSession {
    driver: Protocol,
    ignore_errors: Option<Vec<String>>,
    connection: Connection,
    statements: Statements,
}

impl NetworkSession {
    pub(super) fn open(target: &Target, dialer: &Dialer) -> Result<Self, SqlFailure> {
        let (driver, ignore_errors) = (target.driver, target.ignore_errors.clone());
        let limit = Some(dialer.login_limit());
        let connection = Connection::open(dialer.account(), dialer.place(), limit, None)
            .map_err(|error| failure::from_client(driver, ignore_errors.as_deref(), error))?;
        let mut session = Self { driver, ignore_errors, connection, statements: Statements::new(target) };
        if let Some(sql) = session.connection.protocol().first_statement() {
            session.query(sql.as_bytes()).map_err(|error| failure::on_connect(sql, error))?;
        }
        Ok(session)
    }

    fn failure(&self, error: ClientError) -> SqlFailure {
        failure::from_client(self.driver, self.ignore_errors.as_deref(), error)
    }

    /// Sends a request and waits for the event that answers it.
    fn exchange(&mut self) -> Result<Event, SqlFailure> {
        let event = self.connection.exchange().map_err(|error| self.failure(error))?;
        match self.statements.answered(event) {
            Event::Failed(error) => Err(self.failure(ClientError::Server(error))),
            event => Ok(event),
        }
    }

    fn outcome(&mut self) -> Result<Outcome, SqlFailure> {
        match self.exchange()? {
            Event::Done(summary) => Ok(summary.into()),
            _ => Err(failure::lost(self.driver, None)),
        }
    }
}

impl Session for NetworkSession {
    fn query(&mut self, sql: &[u8]) -> Result<Outcome, SqlFailure> {
        self.connection.protocol().query(sql);
        self.outcome()
    }

    fn send(&mut self, sql: &[u8]) -> Result<(), SqlFailure> {
        self.connection.protocol().query(sql);
        self.connection.send().map_err(|error| self.failure(error))
    }

    fn load(&mut self, sql: &[u8], data: &[u8]) -> Result<(), SqlFailure> {
        self.connection.protocol().load(sql, data);
        self.connection.send().map_err(|error| self.failure(error))
    }

    fn receive(&mut self) -> Result<Outcome, SqlFailure> {
        self.outcome()
    }

    fn prepare(&mut self, sql: &[u8], types: &[ParamType]) -> Result<StatementId, SqlFailure> {
        if let Some(statement) = self.statements.prepare(self.connection.protocol(), sql, types) {
            return Ok(statement);
        }
        match self.exchange()? {
            Event::Prepared(statement) => Ok(statement),
            _ => Err(failure::lost(self.driver, None)),
        }
    }

    fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        self.statements.execute(self.connection.protocol(), statement, params);
        self.outcome()
    }

    fn execute_once(&mut self, sql: &[u8], params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        self.statements.execute_once(self.connection.protocol(), sql, params);
        self.outcome()
    }

    fn pipe(&mut self, part: Piped<'_>) -> Result<(), SqlFailure> {
        if self.statements.pipe(self.connection.protocol(), part) {
            Ok(())
        } else {
            Err(failure::no_pipelines())
        }
    }

    fn run_pipeline(&mut self) -> Result<Outcome, SqlFailure> {
        self.connection.protocol().run_pipeline();
        let bytes = self.connection.protocol().output().len();
        if bytes > PIPELINE_BYTES_MAX {
            let message = format!(
                "a pipeline of {bytes} bytes: a thread may send {PIPELINE_BYTES_MAX} before it reads answers; use the event loop"
            );
            return Err(SqlFailure { message, ..SqlFailure::default() });
        }
        self.outcome()
    }

    fn close_statement(&mut self, statement: StatementId) {
        self.statements.close(self.connection.protocol(), statement);
    }

    fn next_result(&mut self) -> Result<Outcome, SqlFailure> {
        self.connection.protocol().next_result();
        self.outcome()
    }

    fn field_names(&mut self) -> Vec<String> {
        self.connection.protocol().field_names()
    }

    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.connection.protocol().next_row(fields)
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
