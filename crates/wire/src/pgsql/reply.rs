//! The server's answer to a command, read message by message up to its `ReadyForQuery` ("Message Flow" in the
//! PostgreSQL manual's protocol chapter).
//!
//! The bytes of the current result stay in the inbox, from position 0. A row is parsed only when the caller reads
//! it.

use super::backend::{self, Report};
use super::frontend;
use super::inbox::Message;
use super::link::Link;
use super::pipeline::Parts;
use super::statements::Statements;
use crate::{Event, ProtocolError, ServerError, StatementId, Summary};

/// The command that the server is answering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Command {
    #[default]
    Idle,
    /// SQL text with any number of statements.
    Query,
    /// A statement to prepare.
    Prepare(StatementId),
    /// A prepared statement to execute.
    Execute(StatementId),
    /// A statement to parse, bind and execute in one round trip.
    Once,
    /// Several statements.
    Pipeline,
}

#[derive(Default)]
pub(super) struct Reply {
    command: Command,
    result: ResultSet,
    error: Option<ServerError>,
    copy_refused: bool,
    /// The data to send if the server asks for data of a copy.
    offered: Option<Vec<u8>>,
    /// The answers that a pipeline still awaits.
    parts: Parts,
}

/// Result of one statement.
#[derive(Default)]
struct ResultSet {
    columns: Columns,
    fields: u32,
    rows: u64,
    affected_rows: u64,
    /// Position of the end of the result's messages, once the result is complete.
    end: Option<usize>,
    /// Position of the next row.
    cursor: usize,
}

/// Where the names of a result's columns can be read.
#[derive(Default)]
enum Columns {
    #[default]
    None,
    /// In a `RowDescription` that came with the result.
    Described(Message),
    /// In the description of the prepared statement that was executed.
    Prepared(StatementId),
}

impl Reply {
    /// Starts reading the answer to a command.
    pub(super) fn start(&mut self, command: Command, link: &mut Link, statements: &Statements) {
        *self = Reply { command, ..Reply::default() };
        if let Command::Execute(statement) = command {
            self.result.columns = Columns::Prepared(statement);
            self.result.fields = statements.field_count(statement);
        }
        link.start_result();
    }

    /// Starts reading the answers to a pipeline.
    pub(super) fn start_pipeline(&mut self, parts: Parts, link: &mut Link) {
        *self = Reply { command: Command::Pipeline, parts, ..Reply::default() };
        link.start_result();
        // A pipeline without statements has one result, which is empty.
        self.result.end = self.parts.statements.is_empty().then_some(0);
    }

    /// Starts reading the next result of the same command.
    pub(super) fn next_result(&mut self, link: &mut Link) {
        self.result = ResultSet::default();
        link.start_result();
    }

    /// Parses up to the next event.
    pub(super) fn advance(
        &mut self,
        link: &mut Link,
        statements: &mut Statements,
    ) -> Result<Event, ProtocolError> {
        use Command::{Execute, Once, Pipeline, Prepare, Query};
        while let Some(message) = link.inbox.peek()? {
            if self.result.end.is_some() && self.error.is_none() && starts_result(message.tag) {
                return Ok(Event::Done(self.summary(link, true)));
            }
            link.inbox.take(message);
            let body = link.inbox.body(message);
            match (message.tag, self.command) {
                (b'D', Query | Execute(_) | Once | Pipeline) => {
                    self.result.rows += 1 + link.inbox.take_all(b'D');
                }
                (b'T', Query | Once | Pipeline) => self.result.describe(message, body),
                (b'C', Query | Execute(_) | Once | Pipeline) => self.result.complete(message, body),
                (b'I', Query | Execute(_) | Once | Pipeline) => self.result.end = Some(message.end),
                (b'T', Prepare(statement)) => statements.describe(statement, body)?,
                (b'2', Pipeline) => self.bound(statements),
                (b'Z', Pipeline) if self.parts.syncs > 1 => self.parts.syncs -= 1,
                (b'Z', Query | Execute(_) | Once | Prepare(_) | Pipeline) => {
                    return self.finish(link, statements);
                }
                (b'E', _) => {
                    if let Some(event) = self.fail(message, link)? {
                        return Ok(event);
                    }
                }
                (b'G', Query | Execute(_) | Once) => self.answer_copy(link)?,
                (b'd', Query | Execute(_) | Once | Pipeline) => {
                    self.result = ResultSet::default();
                    link.inbox.forget_parsed();
                }
                // These messages only report completed steps of the extended protocol, or of copying from the
                // server.
                (b'1' | b't' | b'n', Prepare(_))
                | (b'1' | b'2' | b'n', Once)
                | (b'1' | b'n', Pipeline)
                | (b'2', Execute(_))
                | (b'3', _)
                | (b'H' | b'c', Query | Execute(_) | Once | Pipeline) => {}
                _ => link.take_unasked(message)?,
            }
        }
        Ok(Event::NeedInput)
    }

    /// Reads the next row. A malformed row ends the result.
    pub(super) fn next_row(&mut self, link: &Link, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        fields.clear();
        let end = self.result.end.unwrap_or(0);
        while self.result.cursor < end {
            let Some(message) = link.inbox.message_at(self.result.cursor) else { return false };
            self.result.cursor = message.end;
            if message.tag == b'D' {
                return backend::read_row(link.inbox.body(message), fields).is_some();
            }
        }
        false
    }

    pub(super) fn field_names(&self, link: &Link, statements: &Statements) -> Vec<String> {
        match &self.result.columns {
            Columns::None => Vec::new(),
            Columns::Described(description) => backend::field_names(link.inbox.body(*description)),
            Columns::Prepared(statement) => backend::field_names(statements.description(*statement)),
        }
    }

    /// Handles the message which says that the server has bound the next statement of a pipeline. The result of this
    /// statement follows.
    fn bound(&mut self, statements: &Statements) {
        if let Some(Some(statement)) = self.parts.statements.pop_front() {
            self.result.columns = Columns::Prepared(statement);
            self.result.fields = statements.field_count(statement);
        }
    }

    /// Ends the command when the server is ready for another one.
    fn finish(&mut self, link: &mut Link, statements: &mut Statements) -> Result<Event, ProtocolError> {
        let command = std::mem::take(&mut self.command);
        let error = self.error.take();
        match (command, error) {
            (Command::Prepare(statement), Some(error)) => {
                // The statement may exist on the server in spite of the error, so it is closed there.
                statements.close(statement);
                frontend::close(link.outbox.end(), statement);
                Ok(Event::Failed(error))
            }
            (_, Some(error)) => Ok(Event::Failed(error)),
            (Command::Prepare(statement), None) => Ok(Event::Prepared(statement)),
            (Command::Pipeline, None) if !self.parts.statements.is_empty() => Err(ProtocolError::Malformed {
                what: "ReadyForQuery",
                detail: "it comes before the last statement of a pipeline".into(),
            }),
            _ if self.result.end.is_some() => Ok(Event::Done(self.summary(link, false))),
            _ => Err(ProtocolError::Malformed {
                what: "ReadyForQuery",
                detail: "it comes before the command is complete".into(),
            }),
        }
    }

    /// Handles an error. The error is returned when the server is ready again, or immediately if it is fatal.
    fn fail(&mut self, message: Message, link: &mut Link) -> Result<Option<Event>, ProtocolError> {
        let report = Report(link.inbox.body(message));
        let error = report.server_error();
        self.result = ResultSet::default();
        if report.is_fatal() {
            self.command = Command::Idle;
            return Ok(Some(Event::Failed(error)));
        }
        if self.command == Command::Idle {
            let detail = format!("an error without a command: {}", error.message);
            return Err(ProtocolError::Malformed { what: "ErrorResponse", detail });
        }
        self.error.get_or_insert(error);
        Ok(None)
    }

    /// Offers data to the server for the query that was started.
    pub(super) fn offer(&mut self, data: &[u8]) {
        self.offered = Some(data.to_vec());
    }

    /// Sends the offered data to the server. Without offered data, refuses the request.
    fn answer_copy(&mut self, link: &mut Link) -> Result<(), ProtocolError> {
        let Some(data) = self.offered.take() else { return self.refuse_copy(link) };
        frontend::copy_data(link.outbox.end(), &data);
        Ok(())
    }

    /// Refuses a request for data to copy. After an Execute, the server has skipped the client's Sync, because it
    /// waits for data. The client therefore sends another Sync.
    fn refuse_copy(&mut self, link: &mut Link) -> Result<(), ProtocolError> {
        if self.copy_refused {
            let detail = "the copy was refused before".into();
            return Err(ProtocolError::Malformed { what: "CopyInResponse", detail });
        }
        self.copy_refused = true;
        frontend::copy_fail(link.outbox.end());
        if matches!(self.command, Command::Execute(_) | Command::Once) {
            frontend::sync(link.outbox.end());
        }
        Ok(())
    }

    fn summary(&self, link: &Link, more: bool) -> Summary {
        Summary {
            affected_rows: self.result.affected_rows,
            rows: self.result.rows,
            fields: self.result.fields,
            warnings: link.warnings,
            more,
        }
    }
}

impl ResultSet {
    fn describe(&mut self, message: Message, description: &[u8]) {
        self.columns = Columns::Described(message);
        self.fields = backend::field_count(description).unwrap_or(0);
    }

    fn complete(&mut self, message: Message, tag: &[u8]) {
        self.affected_rows = backend::affected_rows(tag, self.rows);
        self.end = Some(message.end);
    }
}

/// Whether a message after a complete result belongs to the next result.
fn starts_result(tag: u8) -> bool {
    !matches!(tag, b'Z' | b'N' | b'S' | b'A' | b'3')
}
