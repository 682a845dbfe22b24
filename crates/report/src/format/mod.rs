//! Formats of the report of a run.

pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;
