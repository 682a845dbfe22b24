//! A connection without a server, to measure the cost of a script.

use dyno_script::{Param, ParamType, Piped, SqlFailure, StatementId};

use super::{Outcome, Session};

/// Answers every statement at once, without rows (`--mysql-dry-run`).
#[derive(Default)]
pub(super) struct DrySession {
    statements: StatementId,
}

impl Session for DrySession {
    fn query(&mut self, _sql: &[u8]) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn send(&mut self, _sql: &[u8]) -> Result<(), SqlFailure> {
        Ok(())
    }

    fn load(&mut self, _sql: &[u8], _data: &[u8]) -> Result<(), SqlFailure> {
        Ok(())
    }

    fn receive(&mut self) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn prepare(&mut self, _sql: &[u8], _types: &[ParamType]) -> Result<StatementId, SqlFailure> {
        self.statements += 1;
        Ok(self.statements)
    }

    fn execute(&mut self, _statement: StatementId, _params: &[Param<'_>]) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn pipe(&mut self, _part: Piped<'_>) -> Result<(), SqlFailure> {
        Ok(())
    }

    fn run_pipeline(&mut self) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn close_statement(&mut self, _statement: StatementId) {}

    fn next_result(&mut self) -> Result<Outcome, SqlFailure> {
        Ok(Outcome::default())
    }

    fn field_names(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn next_row(&mut self, _fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        false
    }
}
