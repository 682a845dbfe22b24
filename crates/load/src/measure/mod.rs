//! The measurements of a load: latency, events, gaps, and unfinished events.

pub(crate) mod answer;
pub(crate) mod digests;
pub(crate) mod gaps;
pub(crate) mod latency;
pub(crate) mod per_connection;
pub(crate) mod recorder;
pub(crate) mod reporter;
pub(crate) mod timeline;
pub(crate) mod unfinished;
pub(crate) mod warm_up;
