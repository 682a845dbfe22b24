//! Requests of a client ("Message Formats" in PostgreSQL's manual).

use std::rc::Rc;

use super::prepared::{Portal, Prepared, Statement};
use crate::capture::bytes::Bytes;
use crate::capture::session::At;
use crate::input::STATEMENT_BYTES_MAX;

/// A request that waits for its answer, and the packet that completed the request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) asks: Asks,
    pub(super) at: At,
}

/// What a client asks for.
#[derive(Debug)]
pub(super) enum Asks {
    /// The text of a query; `None` if it was too long to be kept.
    Query(Option<Vec<u8>>),
    Parse(Vec<u8>, Rc<Statement>),
    Bind(Option<Rc<Portal>>),
    /// The statement that is described; `None` if it is not known, or if a portal is described.
    Describe(Option<Rc<Statement>>),
    Execute(Option<Rc<Portal>>),
    /// Fetches more rows of an execution.
    Fetch,
    Close,
    Sync,
    /// A function call without SQL.
    Function,
    /// A message that was too long to be kept, with the type of its answer.
    TooLong {
        answer: u8,
    },
}

impl Asks {
    /// Memory for the request's content, in bytes. A statement or portal is counted once for each request that
    /// needs it.
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

/// Number of bytes that are kept of a client's message. `None` if the type of message does not exist.
pub(super) fn limit(kind: u8) -> Option<usize> {
    match kind {
        // These messages contain a statement's text or values. The limit includes the names and numbers in the message.
        b'Q' | b'P' | b'B' => Some(STATEMENT_BYTES_MAX + 1),
        b'E' | b'D' | b'C' => Some(4096),
        // The contents of these messages are not needed. Those of `p` are passwords.
        b'S' | b'H' | b'F' | b'X' | b'd' | b'c' | b'f' | b'p' => Some(0),
        _ => None,
    }
}

/// Returns what a message asks for, or `None` if the message is malformed. The caller must not pass messages that
/// get no answer.
pub(super) fn asks(kind: u8, body: &[u8], prepared: &mut Prepared) -> Option<Asks> {
    let mut bytes = Bytes(body);
    Some(match kind {
        b'Q' => {
            // A query replaces the unnamed statement and the unnamed portal.
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

/// Returns the request for a message that was too long for its content to be kept. `None` if the session cannot be
/// followed without the content of this type of message.
pub(super) fn asks_too_long(kind: u8) -> Option<Asks> {
    match kind {
        b'Q' => Some(Asks::Query(None)),
        b'P' => Some(Asks::TooLong { answer: b'1' }),
        b'B' => Some(Asks::TooLong { answer: b'2' }),
        _ => None,
    }
}

/// Whether a segment looks like requests. Either it consists of whole messages and the server answers the last one,
/// or it ends within the text of a statement or within the values of a `Bind`.
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
