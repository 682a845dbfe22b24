//! What reads a log of any format.

use super::event::Event;
use crate::error::TrafficError;
use crate::input::Line;

/// Receives events, each with the line on which it begins.
pub(crate) type See<'a> = &'a mut dyn FnMut(u64, Event<'_>) -> Result<(), TrafficError>;

/// Turns the lines of a log into events.
pub(crate) trait Reader {
    /// Reads the next line. An entry of several lines becomes an event when the next entry begins.
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError>;

    /// Reads the end of the log.
    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError>;
}
