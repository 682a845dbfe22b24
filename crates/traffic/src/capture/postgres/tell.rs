//! Reports what happens in a session.

use super::Session;
use super::answer::Outcome;
use super::requests::{Asks, Request};
use crate::capture::session::Tell;
use crate::error::TrafficError;
use crate::input::STATEMENT_BYTES_MAX;
use crate::log::{Event, Statement, Trouble};

impl Session {
    /// Reports that a user has logged in.
    pub(super) fn connected(&self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let (session, at_us) = (tell.name, tell.at.at_us);
        let (user, database) = (Some(self.user.as_slice()), Some(self.database.as_slice()));
        tell.event(Event::Connected { session, at_us, user, database })?;
        tell.event(Event::Command("Connect"))
    }

    /// Reports a request with its answer.
    pub(super) fn tell_request(
        &mut self,
        request: &Request,
        outcome: &Outcome,
        tell: &mut Tell<'_>,
    ) -> Result<(), TrafficError> {
        let number = request.at.number;
        let has_failed = outcome.error.is_some();
        match &request.asks {
            Asks::Query(Some(text)) if text.trim_ascii().is_empty() => {
                (tell.see)(number, Event::Command("Empty query"))
            }
            Asks::Query(Some(text)) => tell_statement(request, text, &[], outcome, tell),
            Asks::Execute(Some(portal)) => {
                tell_statement(request, &portal.statement.text, &portal.bound(), outcome, tell)
            }
            Asks::Execute(None) => (tell.see)(number, Event::Command("Execute without text")),
            Asks::Parse(name, statement) if has_failed => {
                self.prepared.refuse(name, statement);
                tell_statement(request, &statement.text, &[], outcome, tell)
            }
            Asks::Bind(Some(portal)) if has_failed => {
                tell_statement(request, &portal.statement.text, &portal.bound(), outcome, tell)
            }
            Asks::Parse(..) => (tell.see)(number, Event::Command("Parse")),
            Asks::Fetch => (tell.see)(number, Event::Command("Fetch")),
            Asks::Function => (tell.see)(number, Event::Command("Function")),
            // `Sync` commits the implicit transaction of the statements before it, and this commit failed.
            Asks::Sync if has_failed => (tell.see)(number, Event::Command("Sync that failed")),
            _ => Ok(()),
        }
    }
}

fn tell_statement(
    request: &Request,
    text: &[u8],
    bound: &[Option<Vec<u8>>],
    outcome: &Outcome,
    tell: &mut Tell<'_>,
) -> Result<(), TrafficError> {
    let number = request.at.number;
    if text.len() > STATEMENT_BYTES_MAX {
        return (tell.see)(number, Event::Trouble(Trouble::TooLong));
    }
    let rows_sent = outcome.rows_sent();
    let statement = Statement {
        session: tell.name,
        at_us: request.at.at_us,
        text,
        bound,
        latency_us: Some(tell.since_us(request.at)),
        rows_sent: (outcome.error.is_none() || rows_sent > 0).then_some(rows_sent),
        rows_affected: outcome.affected,
        error: outcome.error.as_deref(),
        ..Statement::default()
    };
    (tell.see)(number, Event::Statement(statement))
}
