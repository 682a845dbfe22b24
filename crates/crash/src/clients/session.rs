//! A connection to the system, for the load and the checks.

use std::time::Duration;

use dyno_engine::{Client, ClientError, Server};
use thiserror::Error;

/// Longest wait for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Why a statement has no result.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The system answered with a refusal.
    #[error("{0}")]
    Refused(String),
    /// There was no answer, because the system is gone.
    #[error("{0}")]
    Gone(String),
}

/// A field of a row as text; `None` for NULL.
pub type Field = Option<Vec<u8>>;

/// A connection to the system.
pub trait Session: Send {
    /// Executes a statement and ignores its result.
    ///
    /// # Errors
    /// The system refuses, or is gone.
    fn execute(&mut self, sql: &str) -> Result<(), SessionError>;

    /// Executes a query and passes its rows to `see`.
    ///
    /// # Errors
    /// The system refuses, or is gone.
    fn rows(&mut self, sql: &str, see: &mut dyn FnMut(&[Field])) -> Result<(), SessionError>;
}

/// Returns the first column of a query's rows.
pub(crate) fn first_column(session: &mut dyn Session, sql: &str) -> Result<Vec<String>, SessionError> {
    let mut texts = Vec::new();
    session.rows(sql, &mut |row| texts.push(text(row, 0)))?;
    Ok(texts)
}

/// Returns a field as text. The text is empty for NULL and for a missing field.
pub(crate) fn text(row: &[Field], at: usize) -> String {
    let field = row.get(at).and_then(Option::as_deref).unwrap_or_default();
    String::from_utf8_lossy(field).into_owned()
}

/// A session with a server.
pub(crate) struct ServerSession(Client);

impl ServerSession {
    pub(crate) fn open(server: &Server) -> Result<Self, SessionError> {
        Ok(Self(server.connect(PATIENCE).map_err(|error| said(&error))?))
    }
}

impl Session for ServerSession {
    fn execute(&mut self, sql: &str) -> Result<(), SessionError> {
        self.0.query(sql).map(drop).map_err(|error| said(&error))
    }

    fn rows(&mut self, sql: &str, see: &mut dyn FnMut(&[Field])) -> Result<(), SessionError> {
        self.0.visit(sql, |_, row| see(row)).map_err(|error| said(&error))
    }
}

fn said(error: &ClientError) -> SessionError {
    match error {
        ClientError::Server(_) => SessionError::Refused(error.to_string()),
        error => SessionError::Gone(error.to_string()),
    }
}
