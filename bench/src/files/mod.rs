//! Results files: the time and space that they take.

pub(crate) mod dataset;
pub(crate) mod merge;
mod records;
pub(crate) mod report;
pub(crate) mod results;
