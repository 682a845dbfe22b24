//! When events begin, and which of them still may.

pub(crate) mod arrivals;
pub(crate) mod control;
pub(crate) mod functions;
