//! Emulates prepared statements. The client stores a statement's text, and for each execution sends the text with the
//! parameters in it.
//!
//! Some statements cannot be prepared (MySQL 5.6 refuses `BEGIN`), and a job may request that nothing is prepared.

use std::collections::HashMap;
use std::io::Write as _;

use dyno_script::{Param, StatementId};

/// The number of the first emulated statement. It is larger than the number of any statement of a server, because no
/// server has 2^31 statements at once.
const FIRST: StatementId = 1 << 31;

/// The emulated statements of one connection.
#[derive(Debug, Default)]
pub(crate) struct Emulation {
    statements: HashMap<StatementId, Statement>,
    next: u32,
    text: Vec<u8>,
}

/// A statement's text, split at its parameters.
#[derive(Debug)]
struct Statement {
    pieces: Vec<Vec<u8>>,
}

impl Emulation {
    pub(crate) fn prepare(&mut self, sql: &[u8]) -> StatementId {
        let id = FIRST | self.next;
        self.next = (self.next + 1) & (FIRST - 1);
        self.statements.insert(id, Statement { pieces: cut(sql) });
        id
    }

    /// Removes a statement. Returns false if the statement is not emulated, but was prepared by the server.
    pub(crate) fn close(&mut self, id: StatementId) -> bool {
        self.statements.remove(&id).is_some()
    }

    /// The text of a statement with its parameters; `None` if the statement is not emulated, but was prepared by the
    /// server. `backslashes` says whether a backslash is an escape character in strings, as in MySQL.
    pub(crate) fn text(&mut self, id: StatementId, params: &[Param<'_>], backslashes: bool) -> Option<&[u8]> {
        if id < FIRST {
            return None;
        }
        let statement = self.statements.get(&id)?;
        self.text.clear();
        for (position, piece) in statement.pieces.iter().enumerate() {
            if position > 0 {
                // A missing parameter is NULL, as in statements that the server prepared.
                write_param(&mut self.text, params.get(position - 1).unwrap_or(&Param::Null), backslashes);
            }
            self.text.extend_from_slice(piece);
        }
        Some(&self.text)
    }
}

/// Splits a statement at every `?` outside of quotes.
fn cut(sql: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = vec![Vec::new()];
    let mut quote = None;
    for &byte in sql {
        match (quote, byte) {
            (None, b'?') => {
                pieces.push(Vec::new());
                continue;
            }
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(byte);
        }
    }
    pieces
}

fn write_param(text: &mut Vec<u8>, param: &Param<'_>, backslashes: bool) {
    let written = match *param {
        Param::Null => text.write_all(b"NULL"),
        Param::Int(number) => write!(text, "{number}"),
        Param::Float(number) => write!(text, "{number}"),
        Param::Text(string) => {
            write_string(text, string, backslashes);
            Ok(())
        }
    };
    debug_assert!(written.is_ok(), "a Vec takes every byte");
}

fn write_string(text: &mut Vec<u8>, string: &[u8], backslashes: bool) {
    text.push(b'\'');
    for &byte in string {
        match byte {
            b'\'' => text.extend_from_slice(b"''"),
            b'\\' if backslashes => text.extend_from_slice(b"\\\\"),
            0 if backslashes => text.extend_from_slice(b"\\0"),
            _ => text.push(byte),
        }
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sql: &str, params: &[Param<'_>], backslashes: bool) -> String {
        let mut emulation = Emulation::default();
        let id = emulation.prepare(sql.as_bytes());
        String::from_utf8(emulation.text(id, params, backslashes).unwrap().to_vec()).unwrap()
    }

    #[test]
    fn parameters_are_written_where_they_go() {
        let sql = "UPDATE t SET a = ?, b = '?', `c?` = ? WHERE id = ?";
        let params = [Param::Int(-5), Param::Null, Param::Float(1.5)];
        assert_eq!(text(sql, &params, true), "UPDATE t SET a = -5, b = '?', `c?` = NULL WHERE id = 1.5");
    }

    #[test]
    fn strings_cannot_end_early() {
        let nasty = [Param::Text(b"it's a \\ and \0")];
        assert_eq!(text("SELECT ?", &nasty, true), "SELECT 'it''s a \\\\ and \\0'");
        assert_eq!(text("SELECT ?", &[Param::Text(b"back\\slash '")], false), "SELECT 'back\\slash '''");
    }

    #[test]
    fn a_statement_of_the_servers_is_not_ours() {
        let mut emulation = Emulation::default();
        assert!(!emulation.close(1));
        assert_eq!(emulation.text(1, &[], true), None);
        let id = emulation.prepare(b"BEGIN");
        assert!(emulation.close(id));
        assert_eq!(emulation.text(id, &[], true), None);
    }
}
