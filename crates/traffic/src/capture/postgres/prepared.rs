//! Prepared statements and portals of a connection ("Extended Query" in PostgreSQL's manual).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::messages::Malformed;
use super::values::text_of_binary;
use crate::capture::bytes::Bytes;

/// Largest number of statements, and of portals, that are kept for a connection.
const KEPT_MAX: usize = 10_000;

/// A prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) text: Vec<u8>,
    /// Types of the parameters, as far as they are known.
    pub(super) kinds: RefCell<Vec<u32>>,
}

/// A statement with its values.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) statement: Rc<Statement>,
    /// Formats of the values. The list is empty if all values are text, and has a single format if this format applies
    /// to all values. Otherwise it has a format for each value.
    formats: Vec<u16>,
    values: Vec<Option<Vec<u8>>>,
    /// Whether the portal has been executed. Each further execution fetches more rows of the same result.
    pub(super) is_begun: Cell<bool>,
}

impl Statement {
    pub(super) fn held_bytes(&self) -> usize {
        self.text.len() + size_of::<Self>()
    }
}

impl Portal {
    pub(super) fn held_bytes(&self) -> usize {
        let values: usize = self.values.iter().flatten().map(Vec::len).sum();
        values + size_of::<Option<Vec<u8>>>() * self.values.len() + size_of::<Self>()
    }

    /// The values as text.
    pub(super) fn bound(&self) -> Vec<Option<Vec<u8>>> {
        let kinds = self.statement.kinds.borrow();
        let is_binary = |place: usize| match self.formats.as_slice() {
            [one] => *one == 1,
            each => each.get(place) == Some(&1),
        };
        let text = |(place, value): (usize, &Option<Vec<u8>>)| {
            let value = value.as_ref()?;
            let kind = kinds.get(place).copied().unwrap_or(0);
            Some(if is_binary(place) { text_of_binary(kind, value) } else { value.clone() })
        };
        self.values.iter().enumerate().map(text).collect()
    }
}

/// The statements and portals by their names. A statement or portal without a name has the empty name.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    statements: HashMap<Vec<u8>, Rc<Statement>>,
    portals: HashMap<Vec<u8>, Rc<Portal>>,
    bytes: usize,
    /// Whether the client has ever closed a named statement. Such a client may use a name again for another statement.
    frees_names: bool,
}

impl Prepared {
    /// Reads the body of `Parse`. Returns the name and the statement, or `None` if the body is malformed.
    pub(super) fn parse(&mut self, body: &[u8]) -> Option<(Vec<u8>, Rc<Statement>)> {
        let mut bytes = Bytes(body);
        let name = bytes.until_nul()?;
        let text = bytes.until_nul()?.to_vec();
        let mut kinds = Vec::new();
        for _ in 0..bytes.u16_be()? {
            kinds.push(bytes.u32_be()?);
        }
        let statement = Rc::new(Statement { text, kinds: RefCell::new(kinds) });
        self.close_statement(name);
        if self.statements.len() < KEPT_MAX {
            self.bytes += name.len() + statement.held_bytes();
            self.statements.insert(name.to_vec(), Rc::clone(&statement));
        }
        Some((name.to_vec(), statement))
    }

    /// Reads the body of `Bind`. `None` if the statement of the portal is not known.
    pub(super) fn bind(&mut self, body: &[u8]) -> Result<Option<Rc<Portal>>, Malformed> {
        let Bind { portal: name, statement, formats, values } = Bind::read(body).ok_or(Malformed)?;
        self.close_portal(name);
        let Some(statement) = self.statement(statement) else { return Ok(None) };
        let portal = Rc::new(Portal { statement, formats, values, is_begun: Cell::new(false) });
        if self.portals.len() < KEPT_MAX {
            self.bytes += name.len() + portal.held_bytes();
            self.portals.insert(name.to_vec(), Rc::clone(&portal));
        }
        Ok(Some(portal))
    }

    pub(super) fn statement(&self, name: &[u8]) -> Option<Rc<Statement>> {
        self.statements.get(name).cloned()
    }

    pub(super) fn portal(&self, name: &[u8]) -> Option<Rc<Portal>> {
        self.portals.get(name).cloned()
    }

    /// Forgets a statement that the server has refused to prepare.
    pub(super) fn refuse(&mut self, name: &[u8], statement: &Rc<Statement>) {
        if self.statements.get(name).is_some_and(|known| Rc::ptr_eq(known, statement)) {
            self.close_statement(name);
        }
    }

    /// Forgets everything that may have changed in a part of the connection that was not captured. Named statements are
    /// kept if the client has never closed one: a server refuses a name that is in use, so each name still belongs to
    /// the same statement.
    pub(super) fn forget_uncertain(&mut self) {
        self.close_portals();
        self.close_statement(b"");
        if self.frees_names {
            *self = Self { frees_names: true, ..Self::default() };
        }
    }

    /// Closes a statement on the client's request.
    pub(super) fn close_by_client(&mut self, name: &[u8]) {
        self.frees_names |= !name.is_empty();
        self.close_statement(name);
    }

    pub(super) fn close_statement(&mut self, name: &[u8]) {
        if let Some(statement) = self.statements.remove(name) {
            self.bytes -= name.len() + statement.held_bytes();
        }
    }

    pub(super) fn close_portal(&mut self, name: &[u8]) {
        if let Some(portal) = self.portals.remove(name) {
            self.bytes -= name.len() + portal.held_bytes();
        }
    }

    /// Closes all portals, because they end with their transaction.
    pub(super) fn close_portals(&mut self) {
        for (name, portal) in self.portals.drain() {
            self.bytes -= name.len() + portal.held_bytes();
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }
}

/// The body of `Bind`.
struct Bind<'a> {
    portal: &'a [u8],
    statement: &'a [u8],
    formats: Vec<u16>,
    values: Vec<Option<Vec<u8>>>,
}

impl<'a> Bind<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let mut bytes = Bytes(body);
        let (portal, statement) = (bytes.until_nul()?, bytes.until_nul()?);
        let mut formats = Vec::new();
        for _ in 0..bytes.u16_be()? {
            formats.push(bytes.u16_be()?);
        }
        let mut values = Vec::new();
        for _ in 0..bytes.u16_be()? {
            // A negative length stands for NULL.
            values.push(match usize::try_from(bytes.u32_be()?.cast_signed()) {
                Ok(length) => Some(bytes.take(length)?.to_vec()),
                Err(_) => None,
            });
        }
        Some(Self { portal, statement, formats, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_in_any_format() {
        let mut prepared = Prepared::default();
        prepared.parse(b"s\0SELECT $1, $2, $3\0\0\x02\0\0\0\x17\0\0\0\x19").unwrap();
        let bind = b"\0s\0\0\x03\0\x01\0\0\0\x01\0\x03\0\0\0\x04\0\0\0\x07\0\0\0\x01a\xFF\xFF\xFF\xFF\0\0";
        let portal = prepared.bind(bind).unwrap().unwrap();
        assert_eq!(portal.bound(), [Some(b"7".to_vec()), Some(b"a".to_vec()), None]);
        assert!(prepared.bind(b"\0unknown\0\0\0\0\0\0\0").unwrap().is_none());
        assert!(prepared.bind(b"\0s\0\0\0\0\x05").is_err());
        prepared.forget_uncertain();
        assert!(prepared.statement(b"s").is_some() && prepared.portal(b"").is_none());
        prepared.close_by_client(b"s");
        assert_eq!(prepared.held_bytes(), 0);
        prepared.parse(b"s\0SELECT 1\0\0\0").unwrap();
        prepared.forget_uncertain();
        assert!(prepared.statement(b"s").is_none());
    }
}
