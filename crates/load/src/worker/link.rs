//! One connection of an event loop, from connecting to disconnecting.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use dyno_client::{
    CALLS_MAX, ClientError, Deadline, Endpoint, EndpointError, ServerAddress, is_forgotten, logged_in,
};
use dyno_script::{ParamType, Piped, Probe, Reply, Silent, SqlFailure, Stage as Mark, prefetch};
use dyno_wire::{Client, Event, ServerError, Summary};

use crate::io::{Io, Token};
use crate::protocol::job::Target;
use crate::session::failure;
use crate::session::servers::Dialer;
use crate::statements::prepared::Statements;

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server's backlog is full; the link connects again later.
    Redialling,
    Connecting,
    LoggingIn,
    /// Running the opening statement with this index.
    SettingUp(usize),
    /// Idle.
    Ready,
    /// A command is in flight.
    Busy,
    /// There is no connection.
    Closed,
}

/// A connection. `P` marks the stages of its work.
pub(super) struct Link<P: Probe = Silent> {
    stage: Stage,
    endpoint: Endpoint,
    statements: Statements,
    place: Arc<ServerAddress>,
    /// Index of the address being connected to.
    address: usize,
    token: Option<Token>,
    /// When the connection must be open; `None` once it is open or given up.
    login_by: Option<Deadline>,
    /// Whether the loop knows this deadline.
    is_watched: bool,
    /// The error that broke the connection while no command was in flight.
    parting: Option<Box<SqlFailure>>,
    /// A command that was sent ahead. Its answer is not awaited yet, and may have arrived.
    ahead: Option<Ahead>,
    /// Connection attempts that a full server has dropped since the last success.
    forgotten: u32,
    /// Whether rows were read since the last command. One that cannot be read breaks the protocol.
    has_read: bool,
    /// Figures of the last result.
    pub(super) summary: Summary,
    probe: PhantomData<P>,
}

/// The state of a command that was sent ahead.
enum Ahead {
    Waiting,
    Answered(Box<Reply>),
}

/// The progress of a link after a request or an I/O event.
pub(super) enum LinkProgress {
    /// The answer has not arrived.
    Pending,
    /// Connect again later.
    Redial,
    /// The reply for the script.
    Reply(Reply),
}

impl<P: Probe> Link<P> {
    pub(super) fn open(target: &Target, dialer: &Dialer, io: &mut dyn Io) -> (Self, LinkProgress) {
        let place = dialer.place();
        let mut link = Self {
            stage: Stage::Closed,
            endpoint: Endpoint::new(dialer.account(), place, 0),
            statements: Statements::new(target),
            place: Arc::clone(place),
            address: 0,
            token: None,
            login_by: None,
            is_watched: false,
            parting: None,
            ahead: None,
            forgotten: 0,
            has_read: false,
            summary: Summary::default(),
            probe: PhantomData,
        };
        link.limit_login(dialer);
        let step = link.call(target, dialer, io);
        (link, step)
    }

    /// Connects to the server, and resets the state of an earlier connection.
    pub(super) fn dial(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        self.close(io);
        (self.parting, self.ahead) = (None, None);
        (self.place, self.address) = (Arc::clone(dialer.place()), 0);
        self.limit_login(dialer);
        self.redial(target, dialer, io)
    }

    /// Connects to the same address again, within the time limit of the first attempt.
    pub(super) fn redial(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        self.statements = Statements::new(target);
        self.call(target, dialer, io)
    }

    fn limit_login(&mut self, dialer: &Dialer) {
        self.login_by = Deadline::after(dialer.login_limit());
        self.is_watched = false;
    }

    /// When the connection must be open, if the loop does not know it yet.
    pub(super) fn new_deadline(&mut self) -> Option<Instant> {
        let deadline = self.login_by.filter(|_| !self.is_watched)?;
        self.is_watched = true;
        Some(deadline.at())
    }

    /// Whether the connection is not open yet and must be at this time.
    pub(super) fn must_open_by(&self, at: Instant) -> bool {
        self.login_by.is_some_and(|deadline| deadline.at() == at)
    }

    /// Tries the next address, or gives up, because the time for this one has passed.
    pub(super) fn be_late(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        let (stage, limit) = (self.stage, dialer.login_limit());
        let address = self.place.name().to_owned();
        self.close(io);
        match stage {
            Stage::Connecting | Stage::Redialling | Stage::LoggingIn if self.place.has_more(self.address) => {
                self.call_next(target, dialer, io)
            }
            Stage::Connecting | Stage::Redialling => {
                let late = io::Error::from(io::ErrorKind::TimedOut);
                LinkProgress::Reply(Reply::Failed(failure::unreachable(target.driver, &address, &late)))
            }
            _ => {
                let late = ClientError::LoginTimeout { address, limit };
                LinkProgress::Reply(Reply::Failed(failure::late(target.driver, &late)))
            }
        }
    }

    fn call_next(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        self.address += 1;
        self.limit_login(dialer);
        self.call(target, dialer, io)
    }

    fn call(&mut self, target: &Target, dialer: &Dialer, io: &mut dyn Io) -> LinkProgress {
        let added = self
            .place
            .start_connecting(self.address)
            .and_then(|(socket, connecting, number)| Ok((io.add(socket, connecting)?, connecting, number)));
        match added {
            Ok((token, connecting, number)) => {
                (self.token, self.address) = (Some(token), number);
                self.endpoint = Endpoint::new(dialer.account(), &self.place, number);
                self.stage = if connecting { Stage::Connecting } else { Stage::LoggingIn };
                self.advance(target, io)
            }
            // The listener of a unix socket has not kept up with a burst of connections.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.stage = Stage::Redialling;
                LinkProgress::Redial
            }
            Err(error) => {
                self.close(io);
                let failure = failure::unreachable(target.driver, self.place.name(), &error);
                LinkProgress::Reply(Reply::Failed(failure))
            }
        }
    }

    /// Hints that its protocol's memory is needed soon.
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

    /// Starts a command that `encode` writes.
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
            // After a row that could not be read, nothing is sent, because the server might never answer.
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

    /// Sends a text query, which `encode` writes, whose answer is awaited later.
    pub(super) fn send_ahead(
        &mut self,
        target: &Target,
        io: &mut dyn Io,
        encode: impl FnOnce(&mut dyn Client),
    ) -> LinkProgress {
        match self.start(target, io, |_, client| encode(client)) {
            LinkProgress::Pending => {
                self.ahead = Some(Ahead::Waiting);
                io.push();
                LinkProgress::Reply(Reply::Done)
            }
            step => step,
        }
    }

    /// Waits for the answer to a query that was sent ahead.
    pub(super) fn receive_behind(&mut self, target: &Target) -> LinkProgress {
        match self.ahead.take() {
            Some(Ahead::Waiting) => LinkProgress::Pending,
            Some(Ahead::Answered(reply)) => LinkProgress::Reply(*reply),
            None => LinkProgress::Reply(Reply::Failed(self.gone(target))),
        }
    }

    /// Keeps an answer that is not awaited yet.
    fn keep_ahead(&mut self, step: LinkProgress) -> LinkProgress {
        match (&self.ahead, step) {
            (Some(Ahead::Waiting), LinkProgress::Reply(reply)) => {
                self.ahead = Some(Ahead::Answered(Box::new(reply)));
                LinkProgress::Pending
            }
            (_, step) => step,
        }
    }

    /// Starts to prepare a statement, or returns an emulated one at once.
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

    /// Continues with the next result, which may have arrived already.
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

    /// The connection attempt succeeded.
    pub(super) fn connected(&mut self, target: &Target, io: &mut dyn Io) -> LinkProgress {
        self.stage = Stage::LoggingIn;
        self.advance(target, io)
    }

    /// Bytes arrived from the server.
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

    pub(super) fn broken(
        &mut self,
        error: Option<&io::Error>,
        target: &Target,
        dialer: &Dialer,
        io: &mut dyn Io,
    ) -> LinkProgress {
        let (stage, login_by) = (self.stage, self.login_by);
        self.close(io);
        let failure = match stage {
            Stage::Closed | Stage::Redialling => return LinkProgress::Pending,
            Stage::Ready => {
                self.parting = Some(Box::new(match self.endpoint.advance() {
                    Ok(Event::Failed(last_words)) => refused(target, last_words),
                    _ => failure::lost(target.driver, error),
                }));
                return LinkProgress::Pending;
            }
            Stage::LoggingIn if self.is_forgotten(error) => {
                self.forgotten += 1;
                self.stage = Stage::Redialling;
                self.login_by = login_by;
                return LinkProgress::Redial;
            }
            Stage::Connecting if self.place.has_more(self.address) => {
                return self.call_next(target, dialer, io);
            }
            Stage::Connecting => {
                let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
                failure::unreachable(target.driver, self.place.name(), error.unwrap_or(&refused))
            }
            Stage::LoggingIn | Stage::SettingUp(_) | Stage::Busy => failure::lost(target.driver, error),
        };
        self.keep_ahead(LinkProgress::Reply(Reply::Failed(failure)))
    }

    fn is_forgotten(&self, error: Option<&io::Error>) -> bool {
        self.forgotten < CALLS_MAX && !self.endpoint.has_heard() && error.is_some_and(is_forgotten)
    }

    /// Sends the protocol's last message and disconnects.
    pub(super) fn disconnect(&mut self, io: &mut dyn Io) {
        if matches!(self.stage, Stage::Ready | Stage::Busy) {
            self.endpoint.protocol().quit();
            // Errors are ignored: the server may be gone.
            let _ = self.flush(io);
        }
        self.close(io);
    }

    /// Why there is no connection.
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

    /// The statement with this index of those that open a connection: the protocol's own, then `on_connect`.
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
        // Sent by `advance`, which called this.
        LinkProgress::Pending
    }
}

fn refused(target: &Target, error: ServerError) -> SqlFailure {
    failure::from_server(target.driver, target.ignore_errors.as_deref(), error)
}

#[cfg(test)]
mod tests;
