//! The connections of a script that runs on a thread of its own, so its calls may block.

use std::time::{Duration, Instant};

use dyno_script::{ConnectionId, Reply, Request, SqlFailure};

use crate::protocol::job::Target;
use crate::session::servers::Dialer;
use crate::session::{self, Outcome, Session};

/// A script's connections, and the most recent result of each. The vectors' index is the connection's id.
#[derive(Default)]
pub(crate) struct Connections {
    sessions: Vec<Option<Box<dyn Session>>>,
    outcomes: Vec<Outcome>,
    /// For each connection whose most recent query is not answered yet, the time at which the query was sent.
    sent: Vec<Option<Instant>>,
}

/// The answer to a request.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    /// The figures of the result, if the request executed a statement.
    pub(crate) statement: Option<Outcome>,
    /// The time at which the statement was sent, if an earlier request sent it.
    pub(crate) sent: Option<Instant>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self { reply, statement: None, sent: None }
    }
}

impl Connections {
    /// Carries out a request. The caller must handle requests for the next event itself.
    pub(crate) fn answer(
        &mut self,
        request: &Request<'_>,
        target: &Target,
        dialer: &Dialer,
    ) -> Result<Answer, SqlFailure> {
        let reply = match *request {
            Request::Connect => {
                self.sessions.push(Some(session::connect(target, dialer)?));
                self.outcomes.push(Outcome::default());
                self.sent.push(None);
                Reply::Connected(self.sessions.len() as ConnectionId - 1)
            }
            Request::Disconnect { connection } => {
                if let Some(session) = self.sessions.get_mut(connection as usize) {
                    *session = None;
                }
                Reply::Done
            }
            Request::Reconnect { connection } => {
                let fresh = session::connect(target, dialer)?;
                if let Some(session) = self.sessions.get_mut(connection as usize) {
                    *session = Some(fresh);
                }
                Reply::Done
            }
            Request::Query { connection, sql } => {
                let outcome = self.session(connection, target)?.query(sql)?;
                return Ok(self.executed(connection, outcome));
            }
            Request::Send { connection, sql } => {
                self.session(connection, target)?.send(sql)?;
                self.sent[connection as usize] = Some(Instant::now());
                Reply::Done
            }
            Request::Load { connection, sql, data } => {
                self.session(connection, target)?.load(sql, data)?;
                Reply::Done
            }
            Request::Receive { connection } => {
                let outcome = self.session(connection, target)?.receive()?;
                let sent = self.sent[connection as usize].take();
                return Ok(Answer { sent, ..self.executed(connection, outcome) });
            }
            Request::Execute { connection, statement, params } => {
                let outcome = self.session(connection, target)?.execute(statement, params)?;
                return Ok(self.executed(connection, outcome));
            }
            Request::ExecuteOnce { connection, sql, params } => {
                let outcome = self.session(connection, target)?.execute_once(sql, params)?;
                return Ok(self.executed(connection, outcome));
            }
            Request::Pipe { connection, part } => {
                self.session(connection, target)?.pipe(part)?;
                Reply::Done
            }
            Request::RunPipeline { connection } => {
                let outcome = self.session(connection, target)?.run_pipeline()?;
                return Ok(self.executed(connection, outcome));
            }
            Request::NextResult { connection } => {
                let outcome = self.session(connection, target)?.next_result()?;
                return Ok(self.executed(connection, outcome));
            }
            Request::Prepare { connection, sql, types } => {
                Reply::Prepared(self.session(connection, target)?.prepare(sql, types)?)
            }
            Request::CloseStatement { connection, statement } => {
                self.session(connection, target)?.close_statement(statement);
                Reply::Done
            }
            Request::Sleep { us } => {
                std::thread::sleep(Duration::from_micros(us));
                Reply::Done
            }
            Request::NextEvent => Reply::Continue(false),
        };
        Ok(reply.into())
    }

    /// Rolls back every connection.
    pub(crate) fn roll_back(&mut self) {
        for session in self.sessions.iter_mut().flatten() {
            // This fails if no transaction is open, and then there is nothing to roll back.
            let _ = session.query(b"ROLLBACK");
        }
    }

    /// The figures of a connection's most recent result.
    pub(crate) fn outcome(&self, connection: ConnectionId) -> Outcome {
        self.outcomes.get(connection as usize).copied().unwrap_or_default()
    }

    /// Names of the columns of a connection's most recent result.
    pub(crate) fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        match self.sessions.get_mut(connection as usize) {
            Some(Some(session)) => session.field_names(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        match self.sessions.get_mut(connection as usize) {
            Some(Some(session)) => session.next_row(fields),
            _ => false,
        }
    }

    fn session(
        &mut self,
        connection: ConnectionId,
        target: &Target,
    ) -> Result<&mut (dyn Session + 'static), SqlFailure> {
        match self.sessions.get_mut(connection as usize) {
            Some(Some(session)) => Ok(&mut **session),
            _ => Err(crate::session::failure::gone(target.driver)),
        }
    }

    fn executed(&mut self, connection: ConnectionId, outcome: Outcome) -> Answer {
        self.outcomes[connection as usize] = outcome;
        Answer { reply: Reply::Result { has_rows: outcome.fields > 0 }, statement: Some(outcome), sent: None }
    }
}
