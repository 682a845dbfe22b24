//! The interface that both protocols share: a session between a client and a server, observed from outside.

use crate::error::TrafficError;
use crate::log::{Event, See, Trouble};

/// The packet that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    /// Number of the packet in its file, from 1.
    pub(super) number: u64,
    /// When the packet was captured, in µs since 1970 UTC.
    pub(super) at_us: i64,
}

/// Reports events of a session.
pub(super) struct Tell<'a> {
    /// Name of the session.
    pub(super) name: &'a [u8],
    pub(super) at: At,
    pub(super) see: See<'a>,
}

impl Tell<'_> {
    /// Reports an event of the current packet.
    pub(super) fn event(&mut self, event: Event<'_>) -> Result<(), TrafficError> {
        (self.see)(self.at.number, event)
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) -> Result<(), TrafficError> {
        self.event(Event::Trouble(trouble))
    }

    /// µs since an earlier packet. 0 if the clock of the capture has stepped back.
    pub(super) fn since_us(&self, earlier: At) -> u64 {
        u64::try_from(self.at.at_us.saturating_sub(earlier.at_us)).unwrap_or(0)
    }
}

/// How much is known about a session that is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is certain where the session's requests and answers begin.
    Certain,
    /// The session was joined at bytes that look like a request. The server's answer will show whether they were a
    /// request.
    Supposed,
    /// It is not known where the next request begins.
    Lost,
    /// Nothing more can be read from the session, and the reason was reported.
    Over,
}

/// Reads both directions of a session.
pub(super) trait Session {
    /// Reads bytes of the client. They begin at the start of a segment, or directly after bytes that were read.
    fn client(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError>;

    /// Reads bytes of the server.
    fn server(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError>;

    /// Forgets the requests in progress, because bytes of one side are missing. Returns whether the session was
    /// certain until now, so that the missing bytes must be reported as a loss.
    fn lose(&mut self) -> bool;

    fn standing(&self) -> Standing;

    /// Whether requests wait for their answers.
    fn is_waiting(&self) -> bool;

    /// Memory for requests, statements and parts of messages, in bytes.
    fn held_bytes(&self) -> usize;

    /// Starts the next file of the capture. Packets are numbered within their file, so requests from the previous file
    /// get the packet number 1.
    fn begin_file(&mut self);
}
