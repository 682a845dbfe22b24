//! A connection to a server of the MySQL family.

use super::answer::{Answer, Metadata};
use super::command::{QUERY, QUIT, STMT_CLOSE, STMT_PREPARE};
use super::framing::compression::{Algorithm, Compression};
use super::framing::output::packet;
use super::framing::packets::Packets;
use super::logins::capabilities::{DEPRECATE_EOF, MARIADB_CACHE_METADATA, OPTIONAL_METADATA};
use super::logins::login::Dialog;
use super::statement::Statements;
use super::values::column::Fields;
use crate::client::{Client, Event, Login, StatementId, Value};
use crate::error::ProtocolError;
use crate::outbox::Outbox;

/// The statement after which MySQL leaves out descriptions of columns.
const SPARE_METADATA: &str = "SET SESSION resultset_metadata = NONE";

/// The client side of one connection, as a state machine that implements [`Client`].
pub struct Connection {
    /// State of the login; `None` once it is complete.
    login: Option<Box<Dialog>>,
    server_version: String,
    /// Compression algorithm that the login agreed on.
    algorithm: Option<Algorithm>,
    packets: Packets,
    output: Outbox,
    answer: Answer,
    statements: Statements,
    /// Error of a malformed row. [`Client::advance`] returns it.
    broken: Option<ProtocolError>,
}

impl Connection {
    /// A connection that waits for the server's handshake packet.
    pub fn new(login: Login) -> Self {
        Self::with_compression(login, Compression::NONE)
    }

    /// A connection that also negotiates compression. The caller must then compress and decompress its bytes.
    pub(super) fn with_compression(login: Login, compression: Compression) -> Self {
        Self {
            login: Some(Box::new(Dialog::new(login, compression))),
            server_version: String::new(),
            algorithm: None,
            packets: Packets::new(),
            output: Outbox::default(),
            answer: Answer::default(),
            statements: Statements::default(),
            broken: None,
        }
    }

    /// The compression that the login agreed on, if any.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        self.algorithm
    }
}

/// Drops the current result and queues a command. The packets of the command are numbered from 0.
fn send(packets: &mut Packets, output: &mut Outbox, write: impl FnOnce(&mut Vec<u8>)) {
    packets.discard_scanned();
    packets.expect_sequence(packet(output, 0, write));
}

impl Client for Connection {
    fn output(&self) -> &[u8] {
        self.output.pending()
    }

    fn consume_output(&mut self, sent_bytes: usize) {
        self.output.consume(sent_bytes);
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.packets.receive(bytes);
    }

    fn advance(&mut self) -> Result<Event, ProtocolError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let Some(login) = &mut self.login else {
            return self.answer.advance(&mut self.packets, &mut self.output, &mut self.statements);
        };
        let event = login.advance(&mut self.packets, &mut self.output)?;
        if event == Event::Ready {
            self.answer.deprecate_eof = login.capabilities & DEPRECATE_EOF != 0;
            if login.capabilities & OPTIONAL_METADATA != 0 {
                self.answer.metadata = Metadata::Optional;
            } else if login.of_mariadb & MARIADB_CACHE_METADATA != 0 {
                self.answer.metadata = Metadata::Cached;
            }
            self.server_version = std::mem::take(&mut login.server_version);
            self.algorithm = Algorithm::of(login.capabilities);
            self.login = None;
            self.packets.login_is_done();
            if self.algorithm.is_some() {
                self.packets.take_any_number();
            }
        }
        Ok(event)
    }

    fn tls_established(&mut self) {
        if let Some(login) = &mut self.login {
            login.tls_established(&mut self.packets, &mut self.output);
        }
    }

    fn query(&mut self, sql: &[u8]) {
        send(&mut self.packets, &mut self.output, |packet| {
            packet.push(QUERY);
            packet.extend_from_slice(sql);
        });
        self.answer.await_result(None);
    }

    fn load(&mut self, sql: &[u8], data: &[u8]) {
        self.query(sql);
        self.answer.offer(data);
    }

    fn prepare_typed(&mut self, sql: &[u8], _types: &[u32]) {
        send(&mut self.packets, &mut self.output, |packet| {
            packet.push(STMT_PREPARE);
            packet.extend_from_slice(sql);
        });
        self.answer.await_preparation();
    }

    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]) {
        send(&mut self.packets, &mut self.output, |packet| {
            self.statements.write_execute(packet, statement, params);
        });
        self.answer.await_result(Some(statement));
    }

    fn close_statement(&mut self, statement: StatementId) {
        if let Some(server_id) = self.statements.remove(statement) {
            packet(&mut self.output, 0, |packet| {
                packet.push(STMT_CLOSE);
                packet.extend_from_slice(&server_id.to_le_bytes());
            });
        }
    }

    fn next_result(&mut self) {
        self.answer.next_result(&mut self.packets);
    }

    fn quit(&mut self) {
        packet(&mut self.output, 0, |packet| packet.push(QUIT));
    }

    fn next_row(&mut self, fields: &mut Fields) -> bool {
        self.broken.is_none()
            && self.answer.result.next_row(&self.packets, &self.statements, fields).unwrap_or_else(|error| {
                fields.clear();
                self.broken = Some(error);
                false
            })
    }

    fn field_names(&self) -> Vec<String> {
        self.answer.result.names(&self.packets, &self.statements)
    }

    fn first_statement(&self) -> Option<&'static str> {
        (self.answer.metadata == Metadata::Optional).then_some(SPARE_METADATA)
    }

    fn server_version(&self) -> &str {
        &self.server_version
    }
}
