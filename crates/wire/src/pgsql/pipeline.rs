//! A pipeline: statements that are sent together ("Pipelining" in the PostgreSQL manual's protocol chapter).

use std::collections::VecDeque;

use super::{frontend, placeholder};
use crate::{Piped, StatementId};

/// A pipeline that is not sent yet.
#[derive(Default)]
pub(super) struct Pipeline {
    bytes: Vec<u8>,
    parts: Parts,
}

/// The answers that a pipeline awaits.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The pipeline's statements, in order. `None` is a statement that is not prepared, so the server describes its
    /// result.
    pub(super) statements: VecDeque<Option<StatementId>>,
    /// Number of points of synchronization.
    pub(super) syncs: u32,
}

impl Pipeline {
    pub(super) fn add(&mut self, part: Piped<'_>) {
        match part {
            Piped::Execute { statement, params } => {
                self.parts.statements.push_back(Some(statement));
                frontend::execute(&mut self.bytes, statement, params);
            }
            Piped::Once { sql, params } => {
                self.parts.statements.push_back(None);
                let write_sql = |out: &mut Vec<u8>| placeholder::write_numbered(sql, out);
                frontend::execute_once(&mut self.bytes, params, write_sql);
            }
            Piped::Sync => {
                self.parts.syncs += 1;
                frontend::sync(&mut self.bytes);
            }
        }
    }

    /// Writes the pipeline and a last point of synchronization. Returns the answers that the pipeline awaits.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) -> Parts {
        self.add(Piped::Sync);
        out.append(&mut self.bytes);
        std::mem::take(&mut self.parts)
    }
}
