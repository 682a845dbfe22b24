//! Reads the server's packets.

use super::answer::{self, Answer, Outcome, Step};
use super::commands::{Command, Request};
use super::frames::Packet;
use super::{Phase, Session, login};
use crate::capture::session::{Standing, Tell};
use crate::error::TrafficError;
use crate::log::{Event, Trouble};

impl Session {
    /// Reads a packet of the server.
    pub(super) fn server_packet(&mut self, packet: &Packet, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        match (self.phase, packet.payload.first()) {
            (Phase::Greeting, Some(10)) if packet.sequence == 0 => {
                self.capabilities = login::offered(&packet.payload);
                self.phase = Phase::Response;
                Ok(())
            }
            (Phase::Greeting | Phase::Response | Phase::Authentication, Some(0xFF)) => {
                self.end();
                tell.event(Event::Command("Connect"))
            }
            (Phase::Greeting | Phase::Response, _) => self.violated(tell),
            (Phase::Authentication, Some(0x00)) => self.logged_in(tell),
            (Phase::Authentication, _) => Ok(()),
            (Phase::Commands, _) => self.answered(packet, tell),
        }
    }

    fn logged_in(&mut self, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        self.phase = Phase::Commands;
        self.connected(tell)?;
        if self.capabilities.unwrap_or(0) & (login::COMPRESS | login::ZSTD_COMPRESSION) != 0 {
            self.end();
            return tell.trouble(Trouble::Encrypted);
        }
        Ok(())
    }

    /// Reads a packet of an answer.
    fn answered(&mut self, packet: &Packet, tell: &mut Tell<'_>) -> Result<(), TrafficError> {
        let Some(request) = self.requests.front() else {
            // A server may send an error that says why it closes the session.
            let is_farewell = packet.sequence == 0 && packet.payload.first() == Some(&0xFF);
            return if self.has_rest || is_farewell { Ok(()) } else { self.violated(tell) };
        };
        let is_first = packet.sequence == request.answer_sequence;
        if self.answer.is_at_begin() && !self.is_client_asked && !is_first {
            return if self.has_rest { Ok(()) } else { self.violated(tell) };
        }
        self.has_rest = false;
        let step = match &request.command {
            Command::ChangeUser(_) if matches!(packet.payload.first(), Some(0x01 | 0xFE)) => {
                Step::AsksForFile
            }
            Command::Query(_) | Command::Execute(_) | Command::ChangeUser(_) | Command::UseDatabase(_) => {
                self.answer.read(packet)
            }
            _ => {
                self.has_rest = true;
                let error = packet.payload.first() == Some(&0xFF);
                let error = if error { answer::error(&packet.payload) } else { None };
                Step::Done(Outcome { error, ..Outcome::default() })
            }
        };
        match step {
            Step::More => Ok(()),
            Step::AsksForFile => {
                self.is_client_asked = true;
                Ok(())
            }
            Step::Bad => self.violated(tell),
            Step::Done(outcome) => self.request_done(outcome, &packet.payload, tell),
        }
    }

    fn request_done(
        &mut self,
        outcome: Outcome,
        payload: &[u8],
        tell: &mut Tell<'_>,
    ) -> Result<(), TrafficError> {
        self.standing = Standing::Certain;
        self.answer = Answer::default();
        self.is_client_asked = false;
        if let Some(request) = self.pop() {
            self.tell_request(request, outcome, payload, tell)?;
        }
        while self.requests.front().is_some_and(|request| !request.command.is_answered()) {
            if let Some(request) = self.pop() {
                self.unanswered(request.command, tell)?;
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.request_bytes -= request.command.held_bytes();
        Some(request)
    }
}
