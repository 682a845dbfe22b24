//! Reports what happens in a session.

use super::Session;
use super::answer::Outcome;
use super::commands::{Command, Request};
use super::login::QUERY_ATTRIBUTES;
use super::prepared::Executed;
use crate::capture::session::Tell;
use crate::error::TrafficError;
use crate::input::STATEMENT_BYTES_MAX;
use crate::log::{Event, Statement, Trouble};

impl Session {
    /// Reports that a user has logged in.
    pub(super) fn connected(&self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let database = Some(self.account.database.as_slice()).filter(|name| !name.is_empty());
        let (session, at_us) = (tell.name, tell.at.at_us);
        tell.event(Event::Connected { session, at_us, user: Some(&self.account.user), database })?;
        tell.event(Event::Command("Connect"))
    }

    /// Reports a request with its outcome. `payload` is the packet that completed the answer.
    pub(super) fn tell_request(
        &mut self,
        request: Request,
        outcome: Outcome,
        payload: &[u8],
        tell: &mut Tell<'_>,
    ) -> Result<(), TrafficError> {
        let number = request.at.number;
        let is_done = outcome.error.is_none();
        match &request.command {
            Command::Query(text) => return tell_statement(&request, text, outcome, tell),
            Command::Execute(payload) => {
                let has_attributes = self.capabilities.map(|flags| flags & QUERY_ATTRIBUTES != 0);
                return match self.prepared.execute(payload, has_attributes) {
                    Executed::Text(text) => tell_statement(&request, &text, outcome, tell),
                    Executed::WithoutText => (tell.see)(number, Event::Command("Execute without text")),
                    Executed::WithoutValues => (tell.see)(number, Event::Command("Execute without values")),
                };
            }
            _ => {}
        }
        match request.command {
            Command::Prepare(text) => {
                if is_done {
                    self.prepared.add(text, payload);
                }
                (tell.see)(number, Event::Command("Prepare"))
            }
            Command::UseDatabase(name) => {
                if is_done {
                    (tell.see)(number, Event::Database { session: tell.name, name: &name })?;
                }
                (tell.see)(number, Event::Command("Init DB"))
            }
            Command::ChangeUser(account) => {
                self.prepared.clear();
                (tell.see)(number, Event::Command("Change user"))?;
                if is_done {
                    let (session, at_us) = (tell.name, tell.at.at_us);
                    tell.event(Event::Closed { session, at_us })?;
                    self.account = account;
                    self.connected(tell)?;
                }
                Ok(())
            }
            Command::ResetStatement(statement) => {
                self.prepared.reset(statement);
                (tell.see)(number, Event::Command("Reset stmt"))
            }
            Command::Reset => {
                self.prepared.clear();
                (tell.see)(number, Event::Command("Reset connection"))
            }
            Command::Dump(name) => {
                self.end();
                (tell.see)(number, Event::Command(name))
            }
            Command::Other(name) => (tell.see)(number, Event::Command(name)),
            _ => Ok(()),
        }
    }
}

fn tell_statement(
    request: &Request,
    text: &[u8],
    outcome: Outcome,
    tell: &mut Tell<'_>,
) -> Result<(), TrafficError> {
    let number = request.at.number;
    if text.len() > STATEMENT_BYTES_MAX {
        return (tell.see)(number, Event::Trouble(Trouble::TooLong));
    }
    let error = outcome.error.map(|code| code.to_string());
    let statement = Statement {
        session: tell.name,
        at_us: request.at.at_us,
        text,
        latency_us: Some(tell.since_us(request.at)),
        rows_sent: outcome.rows_sent,
        rows_affected: outcome.rows_affected,
        error: error.as_deref().map(str::as_bytes),
        ..Statement::default()
    };
    (tell.see)(number, Event::Statement(statement))
}
