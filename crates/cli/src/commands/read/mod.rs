//! Commands that read results files.

pub(super) mod compare;
pub(super) mod cost;
pub(super) mod export;
pub(super) mod history;
pub(super) mod report;
pub(super) mod results;
pub(super) mod serve;
