//! Requests of a client ("Message Formats" in PostgreSQL's manual).

use std::rc::Rc;

use super::prepared::{Portal, Prepared, Statement};
use crate::capture::bytes::Bytes;
use crate::capture::session::At;
use crate::input::STATEMENT_BYTES_MAX;

/// A request that waits for its answer, with the packet that completed it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) asks: Asks,
    pub(super) at: At,
}

/// What a client asks for.
#[derive(Debug)]
pub(super) enum Asks {
    /// A text; `None` if it was too long to be kept.
    Query(Option<Vec<u8>>),
    Parse(Vec<u8>, Rc<Statement>),
    Bind(Option<Rc<Portal>>),
    /// The statement that is described, if it is one.
    Describe(Option<Rc<Statement>>),
    Execute(Option<Rc<Portal>>),
    /// More rows of an execution.
    Fetch,
    Close,
    Sync,
    /// A call of a function without SQL.
    Function,
    /// A message that was too long to be kept, with the answer that it has.
    TooLong {
        answer: u8,
    },
}

impl Asks {
    /// Memory for its content. A statement or portal may be counted for each request that needs it.
    pub(super) fn held_bytes(&self) -> usize {
        let content = match self {
            Self::Query(Some(text)) => text.capacity(),
            Self::Parse(name, statement) => name.capacity() + statement.held_bytes(),
            Self::Bind(Some(portal)) | Self::Execute(Some(portal)) => {
                portal.held_bytes() + portal.statement.held_bytes()
            }
            Self::Describe(Some(statement)) => statement.held_bytes(),
            _ => 0,
        };
        content + size_of::<Request>()
    }
}

/// How many bytes are kept of a client's message. `None` if the type does not exist.
pub(super) fn limit(kind: u8) -> Option<usize> {
    match kind {
        // Names and numbers around a text.
        b'Q' | b'P' | b'B' => Some(STATEMENT_BYTES_MAX + 1),
        b'E' | b'D' | b'C' => Some(4096),
        // `p` has passwords.
        b'S' | b'H' | b'F' | b'X' | b'd' | b'c' | b'f' | b'p' => Some(0),
        _ => None,
    }
}

/// What a message asks for, other than those that are not answered. `None` if it is malformed.
pub(super) fn asks(kind: u8, body: &[u8], prepared: &mut Prepared) -> Option<Asks> {
    let mut bytes = Bytes(body);
    Some(match kind {
        b'Q' => {
            // It replaces the unnamed ones.
            prepared.close_statement(b"");
            prepared.close_portal(b"");
            Asks::Query(Some(bytes.until_nul()?.to_vec()))
        }
        b'P' => {
            let (name, statement) = prepared.parse(body)?;
            Asks::Parse(name, statement)
        }
        b'B' => Asks::Bind(prepared.bind(body).ok()?),
        b'D' => {
            let is_statement = bytes.u8()? == b'S';
            let name = bytes.until_nul()?;
            Asks::Describe(if is_statement { prepared.statement(name) } else { None })
        }
        b'E' => match prepared.portal(bytes.until_nul()?) {
            Some(portal) if portal.is_begun.replace(true) => Asks::Fetch,
            portal => Asks::Execute(portal),
        },
        b'C' => {
            let is_statement = bytes.u8()? == b'S';
            let name = bytes.until_nul()?;
            if is_statement {
                prepared.close_by_client(name);
            } else {
                prepared.close_portal(name);
            }
            Asks::Close
        }
        b'S' => Asks::Sync,
        b'F' => Asks::Function,
        _ => return None,
    })
}

/// What a message asks for that was too long to be kept. `None` if it is not answered.
pub(super) fn asks_too_long(kind: u8) -> Option<Asks> {
    match kind {
        b'Q' => Some(Asks::Query(None)),
        b'P' => Some(Asks::TooLong { answer: b'1' }),
        b'B' => Some(Asks::TooLong { answer: b'2' }),
        _ => None,
    }
}

/// Whether bytes look like requests at the begin of a segment. Either whole messages fill it, and the server answers
/// the last one, or it ends within a text.
pub(crate) fn is_request(bytes: &[u8]) -> bool {
    let mut rest = Bytes(bytes);
    let mut last = 0;
    while !rest.0.is_empty() {
        let (Some(kind), Some(length)) = (rest.u8(), rest.u32_be()) else { return false };
        let is_text = matches!(kind, b'Q' | b'P');
        let Some(length) = (length as usize).checked_sub(4).filter(|length| *length <= 1 << 30) else {
            return false;
        };
        let fits = match kind {
            b'S' | b'H' | b'X' => length == 0,
            b'Q' => length > 0,
            b'P' | b'B' => length >= 4,
            b'D' | b'C' | b'E' => (2..1024).contains(&length),
            _ => false,
        };
        let begins_well = !is_text || rest.0.first().is_none_or(|first| *first < 0x80);
        if !fits || !begins_well {
            return false;
        }
        let Some(body) = rest.take(length) else { return is_text || kind == b'B' };
        if kind == b'Q' && body.last() != Some(&0) {
            return false;
        }
        last = kind;
    }
    matches!(last, b'Q' | b'S' | b'H' | b'X')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_known_by_their_types_and_lengths() {
        assert!(is_request(b"Q\0\0\0\x0DSELECT 1\0"));
        assert!(is_request(b"Q\0\0\x10\x0DSELECT 1"));
        assert!(is_request(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"));
        assert!(!is_request(b"E\0\0\0\x09\0\0\0\0\0"));
        assert!(!is_request(b"Q\0\0\0\x0CSELECT 1\0"));
        assert!(!is_request(b"GET / HTTP/1.1\r\n\r\n"));
        assert!(!is_request(b""));
    }
}
