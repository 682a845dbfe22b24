//! The interface to the counters of one system.

use super::depth::Depth;
use super::error::CountersError;
use super::tally::Tally;

/// Reads the counters of one system: a server or a SQLite database.
pub(super) trait Reader: Send {
    /// Reads all counters into the tally.
    fn read(&mut self, depth: Depth, tally: &mut Tally) -> Result<(), CountersError>;

    /// Sources that this system does not have, each with the server's reason.
    fn missing(&self) -> &[(&'static str, String)];
}
