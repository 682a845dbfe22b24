//! Prepared statements: the client's record of them, and the packets that execute them.

use super::command::STMT_EXECUTE;
use super::framing::output::write_lenenc;
use super::values::column::types;
use crate::client::{StatementId, Value};
use crate::error::ProtocolError;

/// The number that means "no statement". Servers count from 1.
const NO_STATEMENT: u32 = 0;

/// Largest description of a statement's columns that is kept, in bytes. The names of 4096 columns need less.
const MAX_DEFINITIONS_BYTES: usize = 4 << 20;

/// The prepared statements of a connection. The index is the [`StatementId`].
#[derive(Default)]
pub(super) struct Statements {
    places: Vec<Option<Statement>>,
}

struct Statement {
    server_id: u32,
    params: usize,
    /// Parameter types that the server already has; empty before the first execution.
    bound: Vec<u8>,
    /// The packets that define the columns of the statement's result; empty if the server sends the definitions
    /// with each result.
    definitions: Box<[u8]>,
}

impl Statements {
    /// Stores a statement that the server has prepared.
    pub(super) fn add(&mut self, server_id: u32, params: u16) -> StatementId {
        let (params, bound, definitions) = (usize::from(params), Vec::new(), Box::default());
        let statement = Some(Statement { server_id, params, bound, definitions });
        if let Some((place, free)) = self.places.iter_mut().enumerate().find(|(_, place)| place.is_none()) {
            *free = statement;
            return place as StatementId;
        }
        self.places.push(statement);
        (self.places.len() - 1) as StatementId
    }

    /// Keeps the packets that define a statement's columns.
    ///
    /// # Errors
    /// The packets are larger than the limit.
    pub(super) fn define(&mut self, id: StatementId, definitions: &[u8]) -> Result<(), ProtocolError> {
        if definitions.len() > MAX_DEFINITIONS_BYTES {
            let what = "description of a statement";
            return Err(ProtocolError::TooLarge { what, limit_bytes: MAX_DEFINITIONS_BYTES });
        }
        if let Some(statement) = self.places.get_mut(id as usize).and_then(Option::as_mut)
            && *statement.definitions != *definitions
        {
            statement.definitions = definitions.into();
        }
        Ok(())
    }

    /// The packets that define a statement's columns; empty if they are not kept.
    pub(super) fn definitions(&self, id: StatementId) -> &[u8] {
        self.places
            .get(id as usize)
            .and_then(Option::as_ref)
            .map_or(&[][..], |statement| &*statement.definitions)
    }

    /// Removes a statement. Returns the server's number for it.
    pub(super) fn remove(&mut self, id: StatementId) -> Option<u32> {
        self.places.get_mut(id as usize)?.take().map(|statement| statement.server_id)
    }

    /// Writes the payload of an execute command.
    ///
    /// Commands with an unknown statement or a wrong number of parameters are sent too, so that every command has
    /// an answer. The server refuses them (errors 1243 and 1210 or 1835).
    pub(super) fn write_execute(&mut self, packet: &mut Vec<u8>, id: StatementId, params: &[Value<'_>]) {
        let statement = self.places.get_mut(id as usize).and_then(Option::as_mut);
        let server_id = statement.as_ref().map_or(NO_STATEMENT, |statement| statement.server_id);
        packet.push(STMT_EXECUTE);
        packet.extend_from_slice(&server_id.to_le_bytes());
        packet.extend_from_slice(&[0, 1, 0, 0, 0]); // no cursor; one iteration
        match statement {
            Some(statement) if statement.params == params.len() && !params.is_empty() => {
                statement.write_params(packet, params);
            }
            _ => {}
        }
    }
}

impl Statement {
    fn write_params(&mut self, packet: &mut Vec<u8>, params: &[Value<'_>]) {
        for eight in params.chunks(8) {
            let nulls = eight.iter().rev().fold(0, |bits, value| bits << 1 | u8::from(*value == Value::Null));
            packet.push(nulls);
        }
        let rebind = self.rebind(params);
        packet.push(u8::from(rebind));
        if rebind {
            packet.extend(self.bound.iter().flat_map(|&kind| [kind, 0]));
        }
        for value in params {
            match value {
                Value::Null => {}
                Value::Int(number) => packet.extend_from_slice(&number.to_le_bytes()),
                Value::Float(number) => packet.extend_from_slice(&number.to_le_bytes()),
                Value::Bytes(bytes) => {
                    write_lenenc(packet, bytes.len() as u64);
                    packet.extend_from_slice(bytes);
                }
            }
        }
    }

    /// Stores the types of the parameters. Returns whether they must be sent to the server. NULL does not change a
    /// type, because it fits any type.
    fn rebind(&mut self, params: &[Value<'_>]) -> bool {
        let mut changed = self.bound.len() != params.len();
        self.bound.resize(params.len(), types::NULL);
        for (bound, value) in self.bound.iter_mut().zip(params) {
            let kind = match value {
                Value::Null => continue,
                Value::Int(_) => types::LONGLONG,
                Value::Float(_) => types::DOUBLE,
                Value::Bytes(_) => types::VAR_STRING,
            };
            changed |= *bound != kind;
            *bound = kind;
        }
        changed
    }
}
