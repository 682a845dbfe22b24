//! Sizes that bound what a connection keeps in memory, whatever its server does.

/// Largest result that is kept for reading, and so the largest message that is waited for.
pub(crate) const MAX_RESULT_BYTES: usize = 256 << 20;

/// Room that an emptied buffer keeps for the next command; what a big one had beyond it is given back.
pub(crate) const KEPT_BUFFER_BYTES: usize = 64 << 10;

/// The same for what is sent: the statements of a bulk insert come one after the other.
pub(crate) const KEPT_OUTPUT_BYTES: usize = 1 << 20;
