//! Messages to the server ("Message Formats" in the PostgreSQL manual).

use std::io::Write as _;

use crate::{Login, StatementId, Value};

/// Protocol 3.0, which every server since 7.4 supports.
const PROTOCOL_VERSION: u32 = 3 << 16;
/// Number that a request for TLS has in place of the protocol version.
const SSL_REQUEST_CODE: u32 = (1234 << 16) + 5679;
/// Length of a length field.
const LENGTH_BYTES: usize = 4;
/// Executes the unnamed portal without a limit on rows.
const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";
/// Ends a command of the extended protocol.
const SYNC: &[u8] = b"S\0\0\0\x04";

/// Asks whether the server supports TLS.
pub(super) fn ssl_request(out: &mut Vec<u8>) {
    length_prefixed(out, |out| out.extend_from_slice(&SSL_REQUEST_CODE.to_be_bytes()));
}

/// Opens the session. If the login names no database, the server uses the one with the user's name.
pub(super) fn startup(out: &mut Vec<u8>, login: &Login) {
    length_prefixed(out, |out| {
        out.extend_from_slice(&PROTOCOL_VERSION.to_be_bytes());
        let settings = [("user", &*login.user), ("database", &login.database), ("application_name", "dyno")];
        for (name, value) in settings.into_iter().filter(|(_, value)| !value.is_empty()) {
            c_string(out, name.as_bytes());
            c_string(out, value.as_bytes());
        }
        out.push(0);
    });
}

/// Answers a request for a password. `password` is in clear text or hashed.
pub(super) fn password(out: &mut Vec<u8>, password: &[u8]) {
    message(out, b'p', |out| c_string(out, password));
}

/// Chooses a SASL mechanism and sends its first message.
pub(super) fn sasl_initial_response(out: &mut Vec<u8>, mechanism: &str, response: &[u8]) {
    message(out, b'p', |out| {
        c_string(out, mechanism.as_bytes());
        length_and_bytes(out, response);
    });
}

/// Continues a SASL exchange.
pub(super) fn sasl_response(out: &mut Vec<u8>, response: &[u8]) {
    message(out, b'p', |out| out.extend_from_slice(response));
}

/// Runs SQL text, which may contain several statements.
pub(super) fn query(out: &mut Vec<u8>, sql: &[u8]) {
    message(out, b'Q', |out| c_string(out, sql));
}

/// Prepares a statement whose text `write_sql` writes, and requests a description of its result. The server infers
/// the type of a parameter for which `types` has 0 or no entry.
pub(super) fn prepare(
    out: &mut Vec<u8>,
    statement: StatementId,
    types: &[u32],
    write_sql: impl FnOnce(&mut Vec<u8>),
) {
    message(out, b'P', |out| {
        statement_name(out, statement);
        write_sql(out);
        out.push(0);
        out.extend_from_slice(&(types.len() as u16).to_be_bytes());
        for oid in types {
            out.extend_from_slice(&oid.to_be_bytes());
        }
    });
    message(out, b'D', |out| {
        out.push(b'S');
        statement_name(out, statement);
    });
    sync(out);
}

/// Executes a prepared statement. Parameters and results are in text format. [`sync`] must end the command.
pub(super) fn execute(out: &mut Vec<u8>, statement: StatementId, params: &[Value<'_>]) {
    bind(out, params, |out| statement_name(out, statement));
    out.extend_from_slice(EXECUTE);
}

/// Parses, binds, describes and executes the unnamed statement, whose text `write_sql` writes. [`sync`] must end
/// the command.
pub(super) fn execute_once(out: &mut Vec<u8>, params: &[Value<'_>], write_sql: impl FnOnce(&mut Vec<u8>)) {
    message(out, b'P', |out| {
        out.push(0);
        write_sql(out);
        out.extend_from_slice(&[0, 0, 0]);
    });
    bind(out, params, |out| out.push(0));
    message(out, b'D', |out| out.extend_from_slice(b"P\0"));
    out.extend_from_slice(EXECUTE);
}

/// Binds the unnamed portal to a statement.
fn bind(out: &mut Vec<u8>, params: &[Value<'_>], write_name: impl FnOnce(&mut Vec<u8>)) {
    message(out, b'B', |out| {
        out.push(0);
        write_name(out);
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&(params.len() as u16).to_be_bytes());
        for param in params {
            parameter(out, param);
        }
        out.extend_from_slice(&[0, 0]);
    });
}

/// Closes a prepared statement. No [`sync`] follows, so the server answers together with the next command.
pub(super) fn close(out: &mut Vec<u8>, statement: StatementId) {
    message(out, b'C', |out| {
        out.push(b'S');
        statement_name(out, statement);
    });
}

/// Sends all data of a copy, and then the message that ends the copy.
pub(super) fn copy_data(out: &mut Vec<u8>, data: &[u8]) {
    message(out, b'd', |out| out.extend_from_slice(data));
    message(out, b'c', |_| {});
}

/// Refuses to send data for `COPY … FROM STDIN`.
pub(super) fn copy_fail(out: &mut Vec<u8>) {
    message(out, b'f', |out| c_string(out, b"dyno has no data to copy"));
}

/// Ends a command of the extended protocol.
pub(super) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(SYNC);
}

pub(super) fn terminate(out: &mut Vec<u8>) {
    message(out, b'X', |_| {});
}

fn parameter(out: &mut Vec<u8>, param: &Value<'_>) {
    match param {
        Value::Null => out.extend_from_slice(&(-1_i32).to_be_bytes()),
        Value::Int(number) => printed(out, number),
        Value::Float(number) => printed(out, number),
        Value::Bytes(bytes) => length_and_bytes(out, bytes),
    }
}

fn printed(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    counted(out, 0, |out| write!(out, "{number}").expect("a Vec takes all that is written to it"));
}

fn statement_name(out: &mut Vec<u8>, statement: StatementId) {
    write!(out, "s{statement}\0").expect("a Vec takes all that is written to it");
}

fn message(out: &mut Vec<u8>, tag: u8, write_body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    length_prefixed(out, write_body);
}

/// Writes the length of a body, then the body. The length includes the length field itself.
fn length_prefixed(out: &mut Vec<u8>, write_body: impl FnOnce(&mut Vec<u8>)) {
    counted(out, LENGTH_BYTES, write_body);
}

/// Writes the length of `bytes`, then `bytes`. The length does not include the length field itself.
fn length_and_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    counted(out, 0, |out| out.extend_from_slice(bytes));
}

/// Writes a length, then a body. The length is the body's length plus `more_bytes`.
fn counted(out: &mut Vec<u8>, more_bytes: usize, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    let body = out.len();
    write(out);
    let length = (out.len() - body + more_bytes) as u32;
    out[start..body].copy_from_slice(&length.to_be_bytes());
}

fn c_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn startup_names_the_session() {
        let login = Login { user: "u".into(), database: "d".into(), ..Login::default() };
        assert_eq!(
            written(|out| startup(out, &login)),
            b"\0\0\0\x31\0\x03\0\0user\0u\0database\0d\0application_name\0dyno\0\0"
        );
        assert_eq!(written(ssl_request), b"\0\0\0\x08\x04\xd2\x16\x2f");
    }

    #[test]
    fn parameters_are_text_with_lengths() {
        let params = [Value::Int(-12), Value::Null, Value::Float(0.5), Value::Bytes(b"x")];
        assert_eq!(
            written(|out| execute(out, 7, &params)),
            b"B\0\0\0\x25\0s7\0\0\0\0\x04\
              \0\0\0\x03-12\xff\xff\xff\xff\0\0\0\x030.5\0\0\0\x01x\
              \0\0E\0\0\0\x09\0\0\0\0\0"
        );
    }

    #[test]
    fn a_statement_without_a_name_is_parsed_bound_described_and_executed() {
        assert_eq!(
            written(|out| execute_once(out, &[Value::Int(5)], |out| out.extend_from_slice(b"SELECT $1"))),
            b"P\0\0\0\x11\0SELECT $1\0\0\0B\0\0\0\x11\0\0\0\0\0\x01\0\0\0\x015\0\0D\0\0\0\x06P\0\
              E\0\0\0\x09\0\0\0\0\0"
        );
    }

    #[test]
    fn preparing_asks_for_the_description() {
        assert_eq!(
            written(|out| prepare(out, 1, &[], |out| out.extend_from_slice(b"SELECT 1"))),
            b"P\0\0\0\x12s1\0SELECT 1\0\0\0D\0\0\0\x08Ss1\0S\0\0\0\x04"
        );
    }

    #[test]
    fn types_of_parameters_follow_the_text() {
        let typed = written(|out| prepare(out, 1, &[20, 0], |out| out.extend_from_slice(b"SELECT $1,$2")));
        assert!(typed.starts_with(b"P\0\0\0\x1es1\0SELECT $1,$2\0\0\x02\0\0\0\x14\0\0\0\0D"), "{typed:?}");
    }
}
