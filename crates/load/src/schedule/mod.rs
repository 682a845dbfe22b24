//! When events begin, and whether more may begin.

pub(crate) mod arrivals;
pub(crate) mod control;
pub(crate) mod functions;
