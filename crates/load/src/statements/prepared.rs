//! The prepared statements of a connection, some on the server and some emulated.

use dyno_script::{Param, ParamType, Piped, StatementId};
use dyno_wire::{Client, Event, Value};

use crate::protocol::job::{Protocol, Target};
use crate::statements::emulation::Emulation;

/// For up to this number of parameters, an execution allocates no memory.
const PARAMS_INLINE: usize = 16;

/// MySQL's error of a statement that cannot be prepared, `ER_UNSUPPORTED_PS`.
const UNSUPPORTED_PS: u16 = 1295;

/// A connection's prepared statements. Some of them are emulated.
#[derive(Debug)]
pub(crate) struct Statements {
    emulation: Emulation,
    /// Whether statements are prepared on the server.
    prepares: bool,
    /// Whether a backslash is an escape character in strings.
    backslashes: bool,
    /// The text of the statement that the server is preparing.
    preparing: Vec<u8>,
}

impl Statements {
    pub(crate) fn new(target: &Target) -> Self {
        Self {
            emulation: Emulation::default(),
            prepares: target.prepared_statements,
            backslashes: target.driver == Protocol::Mysql,
            preparing: Vec::new(),
        }
    }

    /// Starts to prepare a statement with parameters of the given types, and returns `None`. If the statement is
    /// emulated, nothing is sent, and the statement's number is returned.
    pub(crate) fn prepare(
        &mut self,
        client: &mut dyn Client,
        sql: &[u8],
        types: &[ParamType],
    ) -> Option<StatementId> {
        if !self.prepares {
            return Some(self.emulation.prepare(sql));
        }
        self.preparing.clear();
        self.preparing.extend_from_slice(sql);
        let oids: Vec<u32> = types.iter().copied().map(oid).collect();
        client.prepare_typed(sql, &oids);
        None
    }

    /// Starts executing a statement with a script's parameters.
    pub(crate) fn execute(&mut self, client: &mut dyn Client, statement: StatementId, params: &[Param<'_>]) {
        if let Some(text) = self.emulation.text(statement, params, self.backslashes) {
            client.query(text);
        } else {
            with_values(params, |values| client.execute(statement, values));
        }
    }

    /// Starts executing a statement once, in one round trip. If the protocol has no such command, sends the
    /// statement as text.
    pub(crate) fn execute_once(&mut self, client: &mut dyn Client, sql: &[u8], params: &[Param<'_>]) {
        if self.prepares && with_values(params, |values| client.execute_once(sql, values)) {
            return;
        }
        let statement = self.emulation.prepare(sql);
        self.execute(client, statement, params);
        self.emulation.close(statement);
    }

    /// Adds a part to the pipeline. Returns false if the protocol has no pipelines, or statements are emulated.
    pub(crate) fn pipe(&mut self, client: &mut dyn Client, part: Piped<'_>) -> bool {
        self.prepares
            && match part {
                Piped::Execute { statement, params } => {
                    with_values(params, |params| client.pipe(dyno_wire::Piped::Execute { statement, params }))
                }
                Piped::Once { sql, params } => {
                    with_values(params, |params| client.pipe(dyno_wire::Piped::Once { sql, params }))
                }
                Piped::Sync => client.pipe(dyno_wire::Piped::Sync),
            }
    }

    pub(crate) fn close(&mut self, client: &mut dyn Client, statement: StatementId) {
        if !self.emulation.close(statement) {
            client.close_statement(statement);
        }
    }

    /// Handles the server's answer. If the server cannot prepare a statement, the statement is emulated from then
    /// on.
    pub(crate) fn answered(&mut self, event: Event) -> Event {
        match event {
            Event::Failed(error) if error.code == UNSUPPORTED_PS && !self.preparing.is_empty() => {
                Event::Prepared(self.emulation.prepare(&std::mem::take(&mut self.preparing)))
            }
            Event::Prepared(_) => {
                self.preparing = Vec::new();
                event
            }
            _ => event,
        }
    }
}

/// The number of a type in PostgreSQL's catalogue (`pg_type.dat`).
fn oid(kind: ParamType) -> u32 {
    match kind {
        ParamType::Int => 20,
        ParamType::Float => 701,
        ParamType::Text => 1043,
        ParamType::Inferred => 0,
    }
}

/// Calls `act` with a script's parameters, converted to the values of the protocols.
fn with_values<T>(params: &[Param<'_>], act: impl FnOnce(&[Value<'_>]) -> T) -> T {
    if params.len() <= PARAMS_INLINE {
        let mut values = [Value::Null; PARAMS_INLINE];
        for (value, param) in values.iter_mut().zip(params) {
            *value = value_of(param);
        }
        act(&values[..params.len()])
    } else {
        let values: Vec<Value<'_>> = params.iter().map(value_of).collect();
        act(&values)
    }
}

fn value_of<'a>(param: &Param<'a>) -> Value<'a> {
    match *param {
        Param::Null => Value::Null,
        Param::Int(number) => Value::Int(number),
        Param::Float(number) => Value::Float(number),
        Param::Text(text) => Value::Bytes(text),
    }
}
