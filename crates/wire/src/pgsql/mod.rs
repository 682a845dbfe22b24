//! PostgreSQL's frontend/backend protocol, version 3.0 (PostgreSQL 7.4 and later, and compatible servers).
//!
//! Values are sent as text in both directions. Reading rows therefore needs no knowledge of types, and the server
//! infers the type of each parameter for which none is given. Bytes for a `bytea` are written in SQL's form
//! (`\xDEADBEEF`).

mod backend;
mod frontend;
mod inbox;
mod link;
mod login;
mod pipeline;
mod placeholder;
mod reply;
mod statements;
#[cfg(test)]
mod tests;

use link::Link;
use login::Handshake;
use pipeline::Pipeline;
use reply::{Command, Reply};
use statements::Statements;

use crate::{Client, Event, Login, Piped, ProtocolError, StatementId, Value};

/// A connection to a PostgreSQL server; see [`Client`] for its use.
///
/// Placeholders of prepared statements are written `?`. A question mark in an operator is doubled (`??`). A
/// statement may also use `$1` directly. `COPY … FROM STDIN` gets the data of [`Client::load`]; in any other
/// command, the client refuses to send data. The client skips the data of `COPY … TO STDOUT`.
/// [`Summary::warnings`](crate::Summary::warnings) counts notices of severity `WARNING`. A fatal error is returned
/// as [`Event::Failed`]; the server then closes the connection.
pub struct Connection {
    link: Link,
    handshake: Option<Handshake>,
    statements: Statements,
    reply: Reply,
    /// The parts that have been added to the next pipeline.
    pipeline: Pipeline,
}

impl Connection {
    /// Starts a login. The first output is available immediately.
    pub fn new(login: Login) -> Connection {
        let mut link = Link::default();
        let handshake = Some(Handshake::start(login, &mut link.outbox));
        Connection {
            link,
            handshake,
            statements: Statements::default(),
            reply: Reply::default(),
            pipeline: Pipeline::default(),
        }
    }

    fn start(&mut self, command: Command) {
        self.reply.start(command, &mut self.link, &self.statements);
    }
}

impl Client for Connection {
    fn output(&self) -> &[u8] {
        self.link.outbox.pending()
    }

    fn consume_output(&mut self, sent_bytes: usize) {
        self.link.outbox.consume(sent_bytes);
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.link.inbox.receive(bytes);
    }

    fn advance(&mut self) -> Result<Event, ProtocolError> {
        let Some(handshake) = &mut self.handshake else {
            return self.reply.advance(&mut self.link, &mut self.statements);
        };
        let event = handshake.advance(&mut self.link)?;
        if event == Event::Ready {
            self.handshake = None;
        }
        Ok(event)
    }

    fn tls_established(&mut self) {
        if let Some(handshake) = &mut self.handshake {
            handshake.tls_established(&mut self.link.outbox);
        }
    }

    fn query(&mut self, sql: &[u8]) {
        self.start(Command::Query);
        frontend::query(self.link.outbox.end(), sql);
    }

    fn load(&mut self, sql: &[u8], data: &[u8]) {
        self.query(sql);
        self.reply.offer(data);
    }

    fn prepare_typed(&mut self, sql: &[u8], types: &[u32]) {
        let statement = self.statements.open();
        self.start(Command::Prepare(statement));
        let write_sql = |out: &mut Vec<u8>| placeholder::write_numbered(sql, out);
        frontend::prepare(self.link.outbox.end(), statement, types, write_sql);
    }

    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]) {
        self.start(Command::Execute(statement));
        frontend::execute(self.link.outbox.end(), statement, params);
        frontend::sync(self.link.outbox.end());
    }

    fn execute_once(&mut self, sql: &[u8], params: &[Value<'_>]) -> bool {
        self.start(Command::Once);
        let write_sql = |out: &mut Vec<u8>| placeholder::write_numbered(sql, out);
        frontend::execute_once(self.link.outbox.end(), params, write_sql);
        frontend::sync(self.link.outbox.end());
        true
    }

    fn pipe(&mut self, part: Piped<'_>) -> bool {
        self.pipeline.add(part);
        true
    }

    fn run_pipeline(&mut self) {
        let parts = self.pipeline.end(self.link.outbox.end());
        self.reply.start_pipeline(parts, &mut self.link);
    }

    fn close_statement(&mut self, statement: StatementId) {
        if self.statements.close(statement) {
            frontend::close(self.link.outbox.end(), statement);
        }
    }

    fn next_result(&mut self) {
        self.reply.next_result(&mut self.link);
    }

    fn quit(&mut self) {
        frontend::terminate(self.link.outbox.end());
    }

    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.reply.next_row(&self.link, fields)
    }

    fn field_names(&self) -> Vec<String> {
        self.reply.field_names(&self.link, &self.statements)
    }

    fn server_version(&self) -> &str {
        &self.link.server_version
    }
}
