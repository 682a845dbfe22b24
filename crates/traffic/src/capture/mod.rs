//! Reads captures of unencrypted network traffic into the events that logs have.
//!
//! Packets are read from a file (`packets`), and become segments of TCP (`segment`). Each direction of a connection is
//! put in order (`stream`), and both directions (`flow`, `flows`) are read by the protocol of the product (`mysql`,
//! `postgres`). Memory is bounded, and bytes that do not follow the protocol make a session be given up until its next
//! request.
//!
//! # Why
//!
//! - A server logs less than the network shows: latencies, rows and errors are there for all versions of all products,
//!   and the server need not be changed.
//! - The client's half of both protocols is in `dyno-wire`. It sends requests and knows what it asked for; an observer
//!   sees both sides, may come late and may miss parts. So they have no state machine in common.

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

/// A capture in one or more files. Connections go on from each file to the next.
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
    /// A capture from which the traffic of one product is read.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { flows: Flows::new(dialect, HELD_BYTES_MAX) }
    }

    /// Begins the next file.
    pub(crate) fn begin_file(&mut self) {
        self.flows.begin_file();
    }

    /// Reads the next packet. `Ok(false)` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, in the inner result, or `see` fails.
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
        let at = At { number: packet.number, at_us: packet.at_us };
        match content(&packet) {
            Content::Segment(segment) => self.flows.segment(at, &segment, see)?,
            Content::Truncated => see(at.number, Event::Trouble(Trouble::PacketCut))?,
            Content::Other => see(at.number, Event::Unrelated)?,
        }
        Ok(Ok(true))
    }

    /// Reads the end of the capture.
    pub(crate) fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        self.flows.end(see)
    }
}
