//! Reads captures of unencrypted network traffic, and produces the same events as logs.
//!
//! Packets are read from a file (`packets`), and become segments of TCP (`segment`). The bytes of each direction of a
//! connection are put in order (`stream`). Both directions (`flow`, `flows`) are read according to the product's
//! protocol (`mysql`, `postgres`). Memory is bounded. When bytes do not follow the protocol, the session is lost until
//! its next request.
//!
//! # Why
//!
//! - The network shows more than a server logs. It has latencies, rows and errors for all versions of all products,
//!   and the server need not be changed.
//! - This module shares no state machine with `dyno-wire`, which implements the client side of both protocols. A
//!   client knows what it has requested. An observer sees both sides, may join a session late, and may miss parts.

mod bytes;
mod detect;
mod flow;
mod flows;
mod mysql;
mod packets;
mod postgres;
mod recognise;
mod segment;
mod session;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

use std::io::{self, Read};

pub(crate) use self::detect::detect;
use self::flows::{Flows, HELD_BYTES_MAX};
pub(crate) use self::packets::is_capture;
use self::packets::{Next, Packets};
use self::segment::{Content, content};
use self::session::At;
use crate::error::TrafficError;
use crate::log::{Event, See, Trouble};
use crate::sql::Dialect;

/// A capture in one or more files. Connections continue from each file to the next.
pub(crate) struct Capture {
    flows: Flows,
}

/// The packets of a file of a capture.
pub(crate) struct PacketFile<R>(Packets<R>);

impl<R: Read> PacketFile<R> {
    pub(crate) fn new(content: R) -> Self {
        Self(Packets::new(content))
    }

    /// The number of the last packet that was read.
    pub(crate) fn number(&self) -> u64 {
        self.0.number()
    }
}

impl Capture {
    /// Creates a capture from which the traffic of one product is read.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { flows: Flows::new(dialect, HELD_BYTES_MAX) }
    }

    /// Starts the next file of the capture.
    pub(crate) fn begin_file(&mut self) {
        self.flows.begin_file();
    }

    /// Reads the next packet. Returns `Ok(false)` at the end of the file.
    ///
    /// # Errors
    /// The inner result is an error if the file cannot be read, and the outer result is one if `see` fails.
    pub(crate) fn packet<R: Read>(
        &mut self,
        file: &mut PacketFile<R>,
        see: See<'_>,
    ) -> Result<io::Result<bool>, TrafficError> {
        let next = match file.0.next() {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        let packet = match next {
            Next::Packet(packet) => packet,
            Next::End => return Ok(Ok(false)),
            Next::Cut | Next::Damaged => {
                let trouble = if matches!(next, Next::Cut) { Trouble::Cut } else { Trouble::Damaged };
                see(file.0.number() + 1, Event::Trouble(trouble))?;
                return Ok(Ok(false));
            }
        };
        let Some(at_us) = packet.at_us else {
            see(packet.number, Event::Trouble(Trouble::NoTime))?;
            return Ok(Ok(true));
        };
        let at = At { number: packet.number, at_us };
        match content(&packet) {
            Content::Segment(segment) => self.flows.segment(at, &segment, see)?,
            Content::Truncated => see(at.number, Event::Trouble(Trouble::PacketCut))?,
            Content::Other => see(at.number, Event::Unrelated)?,
        }
        Ok(Ok(true))
    }

    /// Handles the end of the capture.
    pub(crate) fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        self.flows.end(see)
    }
}
