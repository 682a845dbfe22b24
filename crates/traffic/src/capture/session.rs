//! What both protocols have in common: a session between a client and a server, watched from outside.

use crate::error::TrafficError;
use crate::log::{Event, See, Trouble};

/// The packet that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    /// Number of the packet in its file, from 1.
    pub(super) number: u64,
    /// µs since 1970 UTC.
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

    /// µs since an earlier packet. Clocks of captures may step back.
    pub(super) fn since_us(&self, earlier: At) -> u64 {
        u64::try_from(self.at.at_us.saturating_sub(earlier.at_us)).unwrap_or(0)
    }
}

/// The state of a session that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its requests and answers are known.
    Certain,
    /// It was joined at what looks like a request. The answer will show whether it was one.
    Supposed,
    /// It is not known where the next request begins.
    Lost,
    /// Nothing more can be read, which was reported.
    Over,
}

/// Reads both directions of a session.
pub(super) trait Session {
    /// Reads bytes of the client. They begin at the begin of a segment, or behind bytes that were read.
    fn client(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError>;

    /// Reads bytes of the server.
    fn server(&mut self, bytes: &[u8], tell: &mut Tell<'_>) -> Result<(), TrafficError>;

    /// Forgets what is in progress, because bytes of either side are missing. Returns whether something is lost: the
    /// session was known until here.
    fn lose(&mut self) -> bool;

    fn standing(&self) -> Standing;

    /// Whether requests wait for their answers.
    fn is_waiting(&self) -> bool;

    /// Memory for requests, statements and parts of messages.
    fn held_bytes(&self) -> usize;

    /// Begins another file. Requests of the previous one get the number 1.
    fn begin_file(&mut self);
}
