//! One connection of an event loop, from connecting to disconnecting.

mod open;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use dyno_client::{Deadline, Endpoint, EndpointError, ServerAddress, logged_in};
use dyno_script::{ParamType, Piped, Probe, Reply, Silent, SqlFailure, Stage as Mark, prefetch};
use dyno_wire::{Client, Event, ServerError, Summary};

use crate::io::{Io, Token};
use crate::protocol::job::Target;
use crate::session::failure;
use crate::statements::prepared::Statements;

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server's backlog is full, so the link will try to connect again.
    Redialling,
    Connecting,
    LoggingIn,
    /// The opening statement with this index is in flight.
    SettingUp(usize),
    /// The connection is open, and no command is in flight.
    Ready,
    /// A command is in flight.
    Busy,
    /// There is no connection.
    Closed,
}

/// A connection. `P` marks the stages of the link's work.
pub(super) struct Link<P: Probe = Silent> {
    stage: Stage,
    endpoint: Endpoint,
    statements: Statements,
    place: Arc<ServerAddress>,
    /// Index of the address that is used.
    address: usize,
    token: Option<Token>,
    /// When the connection must be open; `None` once it is open or given up.
    login_by: Option<Deadline>,
    /// Whether the loop knows the deadline in `login_by`.
    is_watched: bool,
    /// The error that broke the connection while no command was in flight. The next command returns it.
    parting: Option<Box<SqlFailure>>,
    /// A command that was sent, but whose answer the script will await only later. The answer may have arrived.
    ahead: Option<Box<Ahead>>,
    /// Number of connection attempts that a full server has dropped since the last success.
    forgotten: u32,
    /// Whether rows have been read since the last command. If a row could not be read, the server broke the protocol,
    /// and the next command reports that.
    has_read: bool,
    /// Figures of the most recent result.
    pub(super) summary: Summary,
    probe: PhantomData<P>,
}

/// A command whose answer the script awaits later. Times are in ns since the load began.
struct Ahead {
    sent_ns: u64,
    answer: Option<Reply>,
    /// When the answer arrived.
    answered_ns: u64,
}

/// The progress of a link after a request or an I/O event.
pub(super) enum LinkProgress {
    /// The answer has not arrived.
    Pending,
    /// The link must try to connect again later.
    Redial,
    /// The reply for the script.
    Reply(Reply),
}

impl<P: Probe> Link<P> {
    /// Prefetches the memory of the link's protocol.
    pub(super) fn prefetch(&self) {
        prefetch(self.endpoint.state());
    }

    pub(super) fn token(&self) -> Option<Token> {
        self.token
    }

    pub(super) fn is_redialling(&self) -> bool {
        self.stage == Stage::Redialling
    }

    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Ready
    }

    pub(super) fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Starts a command. `encode` writes the command's bytes into the protocol's output.
    pub(super) fn start(
        &mut self,
        target: &Target,
        io: &mut dyn Io,
        encode: impl FnOnce(&mut Statements, &mut dyn Client),
    ) -> LinkProgress {
        if self.stage != Stage::Ready {
            return LinkProgress::Reply(Reply::Failed(self.gone(target)));
        }
        self.stage = Stage::Busy;
        let outer = P::enter(Mark::Encode);
        encode(&mut self.statements, self.endpoint.protocol());
        P::enter(outer);
        if std::mem::take(&mut self.has_read) {
            // If one of the rows was invalid, nothing must be sent, because the server might never answer. `advance`
            // finds that out.
            return self.advance(target, io);
        }
        match self.flush(io) {
            Ok(()) => LinkProgress::Pending,
            Err(error) => self.fail(&error, target, io),
        }
    }

    /// Adds a part to the pipeline, which is sent later.
    pub(super) fn pipe(&mut self, part: Piped<'_>, target: &Target) -> LinkProgress {
        LinkProgress::Reply(if self.stage != Stage::Ready {
            Reply::Failed(self.gone(target))
        } else if self.statements.pipe(self.endpoint.protocol(), part) {
            Reply::Done
        } else {
            Reply::Failed(failure::no_pipelines())
        })
    }

    /// Sends a text query that `encode` writes. The script awaits the answer later.
    pub(super) fn send_ahead(
        &mut self,
        sent_ns: u64,
        target: &Target,
        io: &mut dyn Io,
        encode: impl FnOnce(&mut dyn Client),
    ) -> LinkProgress {
        match self.start(target, io, |_, client| encode(client)) {
            LinkProgress::Pending => {
                self.ahead = Some(Box::new(Ahead { sent_ns, answer: None, answered_ns: 0 }));
                io.push();
                LinkProgress::Reply(Reply::Done)
            }
            step => step,
        }
    }

    /// Waits for the answer to a query that was sent ahead. Moves `asked_ns` back from now, so that the statement's
    /// latency is the time since the query was sent. If the answer has arrived already, the latency is the time
    /// that the answer took.
    pub(super) fn receive_behind(&mut self, asked_ns: &mut u64, target: &Target) -> LinkProgress {
        let Some(ahead) = self.ahead.take() else {
            return LinkProgress::Reply(Reply::Failed(self.gone(target)));
        };
        match ahead.answer {
            None => {
                *asked_ns = ahead.sent_ns;
                LinkProgress::Pending
            }
            Some(reply) => {
                *asked_ns = asked_ns.saturating_sub(ahead.answered_ns.saturating_sub(ahead.sent_ns));
                LinkProgress::Reply(reply)
            }
        }
    }

    /// Whether a command is in flight whose answer the script does not await yet.
    pub(super) fn is_ahead(&self) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.answer.is_none())
    }

    /// If the answer to a query that was sent ahead has arrived, records the time.
    pub(super) fn note_arrival(&mut self, now_ns: u64) {
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.answer.is_some()) {
            ahead.answered_ns = now_ns;
        }
    }

    /// If the script does not await the answer yet, keeps it for later.
    fn keep_ahead(&mut self, step: LinkProgress) -> LinkProgress {
        match (&mut self.ahead, step) {
            (Some(ahead), LinkProgress::Reply(reply)) if ahead.answer.is_none() => {
                ahead.answer = Some(reply);
                LinkProgress::Pending
            }
            (_, step) => step,
        }
    }

    /// Starts to prepare a statement. An emulated statement is returned at once.
    pub(super) fn prepare(
        &mut self,
        (sql, types): (&[u8], &[ParamType]),
        target: &Target,
        io: &mut dyn Io,
    ) -> LinkProgress {
        let mut known = None;
        match self.start(target, io, |statements, client| known = statements.prepare(client, sql, types)) {
            LinkProgress::Pending => {}
            step => return step,
        }
        known.map_or(LinkProgress::Pending, |statement| {
            self.stage = Stage::Ready;
            LinkProgress::Reply(Reply::Prepared(statement))
        })
    }

    /// Starts reading the next result, which may have arrived already.
    pub(super) fn next_result(&mut self, target: &Target, io: &mut dyn Io) -> LinkProgress {
        if self.stage != Stage::Ready {
            return LinkProgress::Reply(Reply::Failed(self.gone(target)));
        }
        self.stage = Stage::Busy;
        self.endpoint.protocol().next_result();
        self.advance(target, io)
    }

    pub(super) fn close_statement(&mut self, statement: dyno_script::StatementId) {
        if self.stage == Stage::Ready {
            self.statements.close(self.endpoint.protocol(), statement);
        }
    }

    pub(super) fn field_names(&mut self) -> Vec<String> {
        self.endpoint.protocol().field_names()
    }

    pub(super) fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.has_read = true;
        self.endpoint.protocol().next_row(fields)
    }

    /// Handles bytes that have arrived from the server.
    pub(super) fn received(&mut self, target: &Target, io: &mut dyn Io) -> LinkProgress {
        let outer = P::enter(Mark::Decode);
        let received = self.endpoint.receive(io.bytes());
        let step = match received {
            Ok(()) => self.advance(target, io),
            Err(error) => self.fail(&error, target, io),
        };
        P::enter(outer);
        self.keep_ahead(step)
    }

    /// Sends the protocol's last message and disconnects.
    pub(super) fn disconnect(&mut self, io: &mut dyn Io) {
        if matches!(self.stage, Stage::Ready | Stage::Busy) {
            self.endpoint.protocol().quit();
            // Errors are ignored, because the server may be gone.
            let _ = self.flush(io);
        }
        self.close(io);
    }

    /// The error for a command on a closed connection. If the connection broke earlier, this is the error that broke
    /// the connection.
    fn gone(&mut self, target: &Target) -> SqlFailure {
        self.parting.take().map_or_else(|| failure::gone(target.driver), |failure| *failure)
    }

    /// Disconnects after a protocol error.
    fn fail(&mut self, error: &EndpointError, target: &Target, io: &mut dyn Io) -> LinkProgress {
        self.close(io);
        LinkProgress::Reply(Reply::Failed(failure::from_endpoint(target.driver, error)))
    }

    fn close(&mut self, io: &mut dyn Io) {
        self.stage = Stage::Closed;
        self.login_by = None;
        if let Some(token) = self.token.take() {
            io.remove(token);
        }
    }

    fn flush(&mut self, io: &mut dyn Io) -> Result<(), EndpointError> {
        let Some(token) = self.token else { return Ok(()) };
        self.endpoint.flush(|bytes| {
            let outer = P::enter(Mark::Submit);
            io.send(token, bytes);
            P::enter(outer);
            Ok(())
        })
    }

    /// Parses received bytes, up to a reply for the script.
    fn advance(&mut self, target: &Target, io: &mut dyn Io) -> LinkProgress {
        loop {
            if self.stage == Stage::Connecting {
                return LinkProgress::Pending;
            }
            let outer = P::enter(Mark::Decode);
            let event = self.endpoint.advance().and_then(|event| self.flush(io).map(|()| event));
            P::enter(outer);
            let step = match event {
                Ok(Event::NeedInput) => return LinkProgress::Pending,
                Ok(event) => {
                    let event = self.statements.answered(event);
                    self.on_event(event, target, io)
                }
                Err(error) => return self.fail(&error, target, io),
            };
            if !matches!(step, LinkProgress::Pending) {
                return step;
            }
        }
    }

    fn on_event(&mut self, event: Event, target: &Target, io: &mut dyn Io) -> LinkProgress {
        match (self.stage, event) {
            (_, Event::NeedInput | Event::StartTls) => LinkProgress::Pending,
            (Stage::SettingUp(_), Event::Done(summary)) if summary.more => {
                self.endpoint.protocol().next_result();
                LinkProgress::Pending
            }
            (Stage::LoggingIn, Event::Ready) => {
                self.forgotten = 0;
                self.login_by = None;
                if let Some(socket) = self.token.and_then(|token| io.socket(token)) {
                    logged_in(socket);
                }
                self.set_up(0, target)
            }
            (Stage::SettingUp(done), Event::Done(_)) => self.set_up(done + 1, target),
            (Stage::Busy, Event::Done(summary)) => {
                self.stage = Stage::Ready;
                self.summary = summary;
                LinkProgress::Reply(Reply::Result { has_rows: summary.fields > 0 })
            }
            (Stage::Busy, Event::Prepared(statement)) => {
                self.stage = Stage::Ready;
                LinkProgress::Reply(Reply::Prepared(statement))
            }
            (Stage::Busy, Event::Failed(error)) => {
                self.stage = Stage::Ready;
                self.summary = Summary::default();
                LinkProgress::Reply(Reply::Failed(refused(target, error)))
            }
            (Stage::SettingUp(done), Event::Failed(error)) => {
                self.close(io);
                let error = refused(target, error);
                let sql = self.opening(done, target).unwrap_or_default();
                LinkProgress::Reply(Reply::Failed(failure::on_connect(sql, error)))
            }
            (stage, Event::Failed(error)) => {
                self.close(io);
                let error = refused(target, error);
                if stage == Stage::Ready {
                    self.parting = Some(Box::new(error.clone()));
                }
                LinkProgress::Reply(Reply::Failed(error))
            }
            (_, Event::Ready | Event::Done(_) | Event::Prepared(_)) => {
                self.close(io);
                LinkProgress::Reply(Reply::Failed(failure::lost(target.driver, None)))
            }
        }
    }

    /// Returns the opening statement with this index. The first one may be a statement of the protocol itself. The
    /// statements of `on_connect` follow.
    fn opening<'t>(&mut self, statement: usize, target: &'t Target) -> Option<&'t str> {
        let first: Option<&'t str> = self.endpoint.protocol().first_statement();
        first.into_iter().chain(target.on_connect.iter().map(String::as_str)).nth(statement)
    }

    /// Runs the opening statement with this index, or ends the login.
    fn set_up(&mut self, statement: usize, target: &Target) -> LinkProgress {
        let Some(sql) = self.opening(statement, target) else {
            self.stage = Stage::Ready;
            return LinkProgress::Reply(Reply::Done);
        };
        self.stage = Stage::SettingUp(statement);
        self.endpoint.protocol().query(sql.as_bytes());
        // `advance`, the caller of this function, sends the statement.
        LinkProgress::Pending
    }
}

fn refused(target: &Target, error: ServerError) -> SqlFailure {
    failure::from_server(target.driver, target.ignore_errors.as_deref(), error)
}
