//! Sessions in the protocol of MySQL and MariaDB ("Client/Server Protocol" in MySQL's source documentation,
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>).

mod answer;
mod commands;
mod frames;
mod login;
mod prepared;
mod server;
mod tell;
mod values;

use std::collections::VecDeque;

use self::answer::Answer;
pub(super) use self::commands::is_request;
use self::commands::{Command, Request, command};
use self::frames::{Frames, Packet};
use self::login::{Account, Response};
pub(super) use self::login::{is_greeting, is_refusal};
use self::prepared::Prepared;
use super::bytes::Bytes;
use super::session::{Standing, Tell};
use super::tls::is_tls;
use crate::error::TrafficError;
use crate::input::STATEMENT_BYTES_MAX;
use crate::log::{Event, Trouble};

/// Number of bytes that are kept of a server's packet. All fields that are used are at its start.
const ANSWER_BYTES: usize = 1024;
/// Number of bytes that are kept of a client's response to the handshake.
const RESPONSE_BYTES: usize = 4096;
/// Largest number of requests of a session that wait for their answers.
const REQUESTS_MAX: usize = 10_000;

/// A session that is observed.
pub(super) struct Session {
    standing: Standing,
    phase: Phase,
    client: Frames,
    server: Frames,
    requests: VecDeque<Request>,
    request_bytes: usize,
    answer: Answer,
    /// Whether the server has asked the client for packets that are no commands, such as a file, or a reply when
    /// the user changes.
    is_client_asked: bool,
    /// Whether more packets of the previous answer may follow. They are ignored.
    has_rest: bool,
    prepared: Prepared,
    /// Capabilities that were agreed on in the login; `None` if the login was not captured.
    capabilities: Option<u32>,
    account: Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The server's handshake is expected.
    Greeting,
    /// The client's response to the handshake is expected.
    Response,
    /// The server checks the client, and accepts or refuses it.
    Authentication,
    Commands,
}

impl Session {
    /// Creates a session that is read from its first byte.
    pub(super) fn from_begin() -> Self {
        Self { standing: Standing::Certain, phase: Phase::Greeting, ..Self::joined() }
    }

    /// Creates a session that was open before the capture. It is read from its next request on.
    pub(super) fn joined() -> Self {
        Self {
            standing: Standing::Lost,
            phase: Phase::Commands,
            client: Frames::default(),
            server: Frames::default(),
            requests: VecDeque::new(),
            request_bytes: 0,
            answer: Answer::default(),
            is_client_asked: false,
            has_rest: false,
            prepared: Prepared::default(),
            capabilities: None,
            account: Account::default(),
        }
    }

    /// Number of bytes that are kept of a client's packet with this sequence number.
    fn client_limit(phase: Phase, sequence: u8) -> usize {
        match phase {
            Phase::Response => RESPONSE_BYTES,
            // The packet contains the command's code, which is one byte, and the statement.
            Phase::Commands if sequence == 0 => STATEMENT_BYTES_MAX + 1,
            _ => 0,
        }
    }

    /// Handles bytes that do not follow the protocol: the session is lost until its next request.
    fn violated(&mut self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let is_loss = super::session::Session::lose(self);
        if is_loss { tell.trouble(Trouble::PacketsMissing) } else { Ok(()) }
    }

    /// Stops reading the session.
    fn end(&mut self) {
        *self = Self { standing: Standing::Over, ..Self::joined() };
    }

    fn client_packet(&mut self, packet: &Packet, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        match self.phase {
            Phase::Greeting => self.violated(tell),
            Phase::Response => match login::response(&packet.payload) {
                Some(Response::Tls) => {
                    self.end();
                    tell.trouble(Trouble::Encrypted)
                }
                Some(Response::Login { capabilities, account }) => {
                    self.phase = Phase::Authentication;
                    self.capabilities = Some(capabilities & self.capabilities.unwrap_or(0));
                    self.account = account;
                    Ok(())
                }
                None => {
                    self.end();
                    tell.trouble(Trouble::NotRecognised)
                }
            },
            Phase::Authentication => Ok(()),
            Phase::Commands if packet.sequence != 0 && self.is_client_asked => Ok(()),
            Phase::Commands if packet.sequence != 0 || self.requests.len() >= REQUESTS_MAX => {
                self.violated(tell)
            }
            Phase::Commands => self.request(packet, tell),
        }
    }

    fn request(&mut self, packet: &Packet, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let is_too_long = packet.is_cut();
        let command = if is_too_long {
            tell.trouble(Trouble::TooLong)?;
            let is_long_data = packet.payload.first() == Some(&0x18);
            if is_long_data {
                return Ok(());
            }
            Some(Command::TooLong)
        } else {
            command(&packet.payload)
        };
        let Some(command) = command else { return self.violated(tell) };
        let request = Request::new(command, packet, tell.at);
        if self.requests.is_empty() && !request.command.is_answered() {
            return self.unanswered(request.command, tell);
        }
        self.request_bytes += request.command.held_bytes();
        self.requests.push_back(request);
        Ok(())
    }

    /// Handles a command that the server does not answer.
    fn unanswered(&mut self, command: Command, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        match command {
            Command::LongData(payload) => self.prepared.add_long_data(&payload),
            Command::Close(number) => {
                self.prepared.close(number);
                return tell.event(Event::Command("Close stmt"));
            }
            Command::Quit => return tell.event(Event::Command("Quit")),
            _ => {}
        }
        Ok(())
    }
}

impl super::session::Session for Session {
    fn client(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        if self.standing == Standing::Lost && is_tls(bytes) {
            self.end();
            return tell.trouble(Trouble::Encrypted);
        }
        if self.standing == Standing::Lost && is_request(bytes) {
            self.standing = Standing::Supposed;
        }
        let mut bytes = Bytes(bytes);
        while matches!(self.standing, Standing::Certain | Standing::Supposed) {
            let phase = self.phase;
            let Some(packet) = self.client.next(&mut bytes, |sequence| Self::client_limit(phase, sequence))
            else {
                break;
            };
            self.client_packet(&packet, tell)?;
            self.client.reuse(packet.payload);
        }
        Ok(())
    }

    fn server(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let mut bytes = Bytes(bytes);
        while matches!(self.standing, Standing::Certain | Standing::Supposed) {
            let Some(packet) = self.server.next(&mut bytes, |_| ANSWER_BYTES) else { break };
            self.server_packet(&packet, tell)?;
            self.server.reuse(packet.payload);
        }
        Ok(())
    }

    fn lose(&mut self) -> bool {
        if self.standing == Standing::Over {
            return false;
        }
        let was_certain = self.standing == Standing::Certain;
        let capabilities = self.capabilities.filter(|_| self.phase == Phase::Commands);
        let mut prepared = std::mem::take(&mut self.prepared);
        prepared.forget_long_data();
        *self = Self { prepared, capabilities, ..Self::joined() };
        was_certain
    }

    fn standing(&self) -> Standing {
        self.standing
    }

    fn is_waiting(&self) -> bool {
        !self.requests.is_empty()
    }

    fn held_bytes(&self) -> usize {
        self.client.held_bytes()
            + self.server.held_bytes()
            + self.request_bytes
            + self.prepared.held_bytes()
            + self.account.user.capacity()
            + self.account.database.capacity()
    }

    fn begin_file(&mut self) {
        self.requests.iter_mut().for_each(|request| request.at.number = 1);
    }
}
