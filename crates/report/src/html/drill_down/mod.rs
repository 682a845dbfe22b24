//! The data that a page contains for its script.

pub(in crate::html) mod cells;
pub(in crate::html) mod checks;
pub(in crate::html) mod data;
pub(in crate::html) mod details;
pub(in crate::html) mod marks;
pub(in crate::html) mod notes;
pub(in crate::html) mod pack;
pub(in crate::html) mod quantiles;
pub(in crate::html) mod series;
pub(in crate::html) mod thin;
