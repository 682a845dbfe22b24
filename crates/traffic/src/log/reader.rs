//! The interface of readers for all formats of logs.

use super::event::Event;
use crate::error::TrafficError;
use crate::input::Line;

/// Receives an event, and the line on which it begins.
pub(crate) type See<'a> = &'a mut dyn FnMut(u64, Event<'_>) -> Result<(), TrafficError>;

/// Turns the lines of a log into events.
pub(crate) trait Reader {
    /// Reads the next line. An entry of several lines becomes an event only when the next entry begins.
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError>;

    /// Handles the end of the log.
    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError>;
}
