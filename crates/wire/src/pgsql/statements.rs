//! The prepared statements of one connection.

use super::backend;
use crate::{ProtocolError, StatementId};

/// Largest description that is kept, in bytes. PostgreSQL's widest result (1664 columns with names of 63 bytes)
/// needs an eighth of this.
const MAX_DESCRIPTION_BYTES: usize = 1 << 20;

/// The descriptions of the open statements' results. A description is the body of a `RowDescription`; it is empty
/// if the statement returns no rows.
///
/// The number of a closed statement is reused, so the table is no longer than the largest number of open
/// statements.
#[derive(Default)]
pub(super) struct Statements {
    slots: Vec<Option<Box<[u8]>>>,
}

impl Statements {
    /// Allocates the lowest free number, from 1.
    pub(super) fn open(&mut self) -> StatementId {
        let free = self.slots.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[index] = Some(Box::default());
        index as StatementId + 1
    }

    /// Stores the description of a statement's result.
    ///
    /// # Errors
    /// The description is larger than the limit.
    pub(super) fn describe(
        &mut self,
        statement: StatementId,
        description: &[u8],
    ) -> Result<(), ProtocolError> {
        if description.len() > MAX_DESCRIPTION_BYTES {
            return Err(ProtocolError::TooLarge {
                what: "description of a statement",
                limit_bytes: MAX_DESCRIPTION_BYTES,
            });
        }
        if let Some(slot @ Some(_)) = self.slots.get_mut(index(statement)) {
            *slot = Some(description.into());
        }
        Ok(())
    }

    /// Description of a statement's result; empty if the statement returns no rows or is not open.
    pub(super) fn description(&self, statement: StatementId) -> &[u8] {
        self.slots.get(index(statement)).and_then(Option::as_deref).unwrap_or_default()
    }

    /// Number of columns that a statement returns.
    pub(super) fn field_count(&self, statement: StatementId) -> u32 {
        backend::field_count(self.description(statement)).unwrap_or(0)
    }

    /// Frees the number of a statement. Returns false if the number was not in use.
    pub(super) fn close(&mut self, statement: StatementId) -> bool {
        self.slots.get_mut(index(statement)).and_then(Option::take).is_some()
    }
}

fn index(statement: StatementId) -> usize {
    (statement as usize).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_again_after_close() {
        let mut statements = Statements::default();
        assert_eq!([statements.open(), statements.open(), statements.open()], [1, 2, 3]);
        assert!(statements.close(2));
        assert!(!statements.close(2));
        assert!(!statements.close(0));
        assert_eq!([statements.open(), statements.open()], [2, 4]);
    }

    #[test]
    fn a_description_lasts_as_long_as_its_statement() {
        let mut statements = Statements::default();
        let id = statements.open();
        assert_eq!(statements.field_count(id), 0);
        statements.describe(id, b"\0\x03").unwrap();
        assert_eq!(statements.field_count(id), 3);
        statements.close(id);
        statements.describe(id, b"\0\x03").unwrap();
        assert_eq!(statements.field_count(id), 0);
        statements.open();
        assert_eq!(statements.field_count(id), 0);
    }

    #[test]
    fn a_description_is_bounded() {
        let mut statements = Statements::default();
        let id = statements.open();
        assert!(statements.describe(id, &vec![0; MAX_DESCRIPTION_BYTES]).is_ok());
        assert!(statements.describe(id, &vec![0; MAX_DESCRIPTION_BYTES + 1]).is_err());
    }
}
